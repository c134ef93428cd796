"""Run every benchmark: `make bench`, or one: `python -m benchmarks.exact`."""

from benchmarks import exact, hebbian, landmark_stream, large, projection, tile


def main() -> None:
    for module in (tile, exact, projection, hebbian, landmark_stream, large):
        print(f"\n{(module.__doc__ or '').strip()}\n")
        module.main()


if __name__ == "__main__":
    main()
