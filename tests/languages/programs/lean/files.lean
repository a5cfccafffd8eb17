#eval do IO.FS.writeBinFile "output.txt" (← IO.FS.readBinFile "input.txt")
