"""hvdbench: one AlexNet graph under interchangeable distribution strategies, measured one way."""

__version__ = "0.1.0"
