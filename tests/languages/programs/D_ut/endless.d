void main() { while (true) {} }
