int main () {
    GLib.error ("boom");
}
