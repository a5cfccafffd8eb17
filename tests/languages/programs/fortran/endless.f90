program endless
  implicit none
  integer, volatile :: number = 0
  do
    number = mod(number + 1, 7)
  end do
end program endless
