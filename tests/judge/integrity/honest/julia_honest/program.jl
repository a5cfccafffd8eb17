half(x) = div(x, 2)

using Test

@testset begin
    @test(half(4) == 2)
end
