program failing
  error stop "boom"
end program failing
