entity tb is
