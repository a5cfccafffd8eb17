section .text
    move eax, 1
