void main() { int number = ; }
