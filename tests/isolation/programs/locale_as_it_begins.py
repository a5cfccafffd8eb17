import codecs
import locale

print(locale.setlocale(locale.LC_ALL), locale.getpreferredencoding(), locale.localeconv()["decimal_point"])
print(codecs.lookup(locale.getpreferredencoding(False)).name, locale.getlocale(), f"{1234.5:n}", "İ".lower().encode())
