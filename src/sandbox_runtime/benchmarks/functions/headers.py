"""What answers may use without importing it: models are asked for a function, not for the lines on top of a file."""

from __future__ import annotations

PYTHON = """\
import collections
import copy
import datetime
import functools
import hashlib
import heapq
import itertools
import math
import re
import statistics
import string
import sys
import numpy
import numpy as np
from collections import *
from typing import *
"""

CPP = """\
#include <algorithm>
#include <any>
#include <boost/any.hpp>
#include <cassert>
#include <climits>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <functional>
#include <iomanip>
#include <iostream>
#include <iterator>
#include <list>
#include <map>
#include <numeric>
#include <queue>
#include <set>
#include <sstream>
#include <stack>
#include <string>
#include <tuple>
#include <unordered_map>
#include <unordered_set>
#include <utility>
#include <vector>
using namespace std;
"""

JAVA = """\
import java.io.*;
import java.lang.reflect.*;
import java.math.*;
import java.security.*;
import java.util.*;
import java.util.function.*;
import java.util.stream.*;
import org.javatuples.*;
"""

CSHARP = """\
using System;
using System.Collections;
using System.Collections.Generic;
using System.Diagnostics;
using System.Linq;
using System.Numerics;
using System.Security.Cryptography;
using System.Text;
using System.Text.RegularExpressions;
"""

D = """\
import std.algorithm;
import std.array;
import std.conv;
import std.math;
import std.range;
import std.string;
import std.typecons;
"""
