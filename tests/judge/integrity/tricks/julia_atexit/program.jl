atexit(() -> ccall(:_exit, Cvoid, (Cint,), 0))
half(x) = 0

using Test

@testset begin
    @test(half(4) == 2)
end
