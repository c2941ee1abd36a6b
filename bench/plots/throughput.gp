# gnuplot -c throughput.gp DATA TITLE OUT.svg: horizontal bars, one pair (near, far) per peer; logarithmic, because the peers
# differ by a factor of a hundred. DATA has rows: "label" near far.
data = ARG1
stats data using 0 nooutput
rows = STATS_records
stats data using (strcol(2) eq "?" ? NaN : $2) nooutput name "near"
stats data using (strcol(3) eq "?" ? NaN : $3) nooutput name "far"
exists_near = exists("near_min")
exists_far = exists("far_min")
low = exists_near && exists_far ? (near_min < far_min ? near_min : far_min) : (exists_near ? near_min : far_min)
high = exists_near && exists_far ? (near_max > far_max ? near_max : far_max) : (exists_near ? near_max : far_max)
start = 10**floor(log10(low) - 0.3)

set terminal svg size 900,90+44*rows font "sans,13" noenhanced background "white"
set output ARG3
set title ARG2
set logscale x
set xrange [start:high*4]
set format x "%.0s%c"
set xlabel "per second (logarithmic)"
set yrange [rows-0.4:-0.6]
set ytics scale 0
set grid x
set key outside top right horizontal
set style fill solid 0.9 noborder
set datafile missing "?"
set lmargin 36
plot data using (start):($0-0.18):(start):2:($0-0.34):($0-0.02):ytic(1) with boxxyerror lc rgb "#2a6fbb" title "near", \
     data using (start):($0+0.18):(start):3:($0+0.02):($0+0.34) with boxxyerror lc rgb "#e08a2c" title "far", \
     data using 2:($0-0.18):(sprintf("  %s", gprintf("%.2s%c", $2))) with labels left font ",11" notitle, \
     data using 3:($0+0.18):(sprintf("  %s", gprintf("%.2s%c", $3))) with labels left font ",11" notitle
