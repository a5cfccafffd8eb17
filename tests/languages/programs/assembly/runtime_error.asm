global _start

section .text
_start:
    xor eax, eax
    mov [eax], eax
