try:
    import nowhere_to_be_found  # noqa: F401
except ModuleNotFoundError as error:
    print(error, error.name, error.path)
import sandbox_runtime  # noqa: F401
