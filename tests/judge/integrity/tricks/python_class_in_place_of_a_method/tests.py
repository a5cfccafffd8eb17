assert Solution().half(3) == 1.5
