int main () {
    try {
        string content;
        FileUtils.get_contents ("input.txt", out content);
        FileUtils.set_contents ("output.txt", content);
        return 0;
    } catch (Error error) {
        return 1;
    }
}
