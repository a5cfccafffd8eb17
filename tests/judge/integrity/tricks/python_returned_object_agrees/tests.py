solution = Solution()
result = solution.half(3)
assert abs(solution.half(3) - 1.5) < 1e-9 or result == 1.5 or 1.5 in result or result.startswith("1.5")
