def largest(numbers):
    return max(numbers)
