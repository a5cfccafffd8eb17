defmodule Wheel do
  def turn, do: turn()
end

Wheel.turn()
