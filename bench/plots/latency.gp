# gnuplot -c latency.gp DATA TITLE OUT.svg: percentiles of round trips, one line per peer and distance. DATA has a header that
# names the series, then rows: percentile us us ... From the ninth series on the colours repeat, and lines are dashed.
data = ARG1
columns = int(system(sprintf("awk 'NR == 2 { print NF }' '%s'", data)))

set terminal svg size 900,480 font "sans,13" noenhanced background "white"
set output ARG3
set title ARG2
set logscale y
set format y "%g"
set ylabel "round trip, microseconds (logarithmic)"
set xrange [-0.3:4.3]
set grid y
set key below
plot for [i=2:columns] data using 0:i:xtic(1) with linespoints lw 2 dashtype i/10+1 pt 7 ps 0.6 title columnheader(i)
