program files
  implicit none
  character(len=1000) :: line
  integer :: length, state
  open(10, file='input.txt', status='old')
  open(11, file='output.txt', status='new')
  do
    read(10, '(a)', iostat=state, size=length, advance='no') line
    if (is_iostat_end(state)) exit
    write(11, '(a)') line(1:length)
  end do
end program files
