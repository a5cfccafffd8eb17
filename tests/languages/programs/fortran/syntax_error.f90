program broken
  print *, (
end program broken
