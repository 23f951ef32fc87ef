"""Contrasts of colours, as the Web Content Accessibility Guidelines define them."""


def channels(colour):
    """Return the red, green and blue of a colour such as `#1f5fcf`, from 0 to 255."""
    return [int(colour[place : place + 2], 16) for place in (1, 3, 5)]


def luminance(colour):
    """Return the relative luminance of a colour."""
    shares = [channel / 255 for channel in channels(colour)]
    linear = [c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in shares]
    return sum(w * c for w, c in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def contrast(one, other):
    """Return the contrast of two colours, from 1 to 21."""
    low, high = sorted((luminance(one), luminance(other)))
    return (high + 0.05) / (low + 0.05)


def mixed(one, other, share):
    """Return the mixture of a share of one colour and the rest of another."""
    pairs = zip(channels(one), channels(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)
