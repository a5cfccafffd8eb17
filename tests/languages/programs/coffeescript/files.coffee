fs = require 'fs'

fs.copyFileSync "input.txt", "output.txt"
