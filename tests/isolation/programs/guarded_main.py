def main():
    print("main ran", __name__)
    return 3


if __name__ == "__main__":
    raise SystemExit(main())
