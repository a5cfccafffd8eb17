import Foundation

try FileManager.default.copyItem(atPath: "input.txt", toPath: "output.txt")
