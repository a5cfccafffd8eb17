int main() { error("boom"); }
