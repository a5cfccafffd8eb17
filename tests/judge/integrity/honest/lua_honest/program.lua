function half(x)
  return x // 2
end

lu = require("luaunit")

function test_half()
  lu.assertEquals(half(4), 2)
end

os.exit(lu.LuaUnit.run())
