yes & yes >&2 & yes &
wait
