do while
  say "never"
