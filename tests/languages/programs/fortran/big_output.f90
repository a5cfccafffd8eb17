program big_output
  implicit none
  integer :: row
  do row = 1, 50000
    write(*, '(a)') repeat('x', 99)
  end do
end program big_output
