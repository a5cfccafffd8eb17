say "never
