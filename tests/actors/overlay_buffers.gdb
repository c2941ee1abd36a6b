# Prints each acquire and release of a program's buffer pools; see overlay_buffers.trace. The register names are for x86-64.
set pagination off
break *&'rondo::buffer_pool::acquire(unsigned long, boost::source_location const&)'
commands
  silent
  printf "pool %lu +%lu\n", $rsi, $rdx
  continue
end
break *&'rondo::buffer_pool::release(rondo::buffer_ref)'
commands
  silent
  printf "pool %lu -%lu\n", $rdi, *(unsigned long*)($rsp + 24)
  continue
end
run
