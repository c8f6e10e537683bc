"""C files: loop nests between ``#pragma scop`` and ``#pragma endscop``."""
