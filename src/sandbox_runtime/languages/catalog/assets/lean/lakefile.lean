import Lake
open Lake DSL

package main

@[default_target]
lean_lib Main
