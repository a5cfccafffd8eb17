pub fn main() void { const number = ; }
