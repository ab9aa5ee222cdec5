import { describe, expect, it } from 'vitest';
import { parsePolicy } from '../../src/policy/validate.ts';

/** Documents that do not load (02 §3): a code, and behind each bar the JSON path that is named, and the document. */
const documents = String.raw`
  not_json ¦ $  ¦ $     ¦ $ { ¦ $ {"rules":[] ¦ $ {"rules":[],} ¦ $ {'rules':[]} ¦ $ {"rules":[]}x ¦ $ {}{}
  not_json ¦ $ {"a":undefined} ¦ $ {"version":01} ¦ $ {"version":+1} ¦ $ {"version":.5}
  not_json ¦ $ {"compute":{"maxTurns":Infinity}} ¦ $ {"default_action":"	"} ¦ $ {"default_action":"allow" ¦ $ nul
  not_json ¦ $ {"rules":[],"version":0x1} ¦ $ {"version":1.} ¦ $ {"default_action":"\x41"} ¦ $ {"default_action":"\u12"}
  not_json ¦ $ {"rules":[1 2]} ¦ $  {} ¦ $ {"default_action":allow} ¦ $ ﻿﻿{}
  wrong_type ¦ $ null ¦ $ 1 ¦ $ "x" ¦ $ true ¦ $ [] ¦ $ [{}] ¦ $.version {"version":"1"} ¦ $.version {"version":true}
  wrong_type ¦ $.version {"version":0.5} ¦ $.version {"version":[]} ¦ $.default_action {"default_action":true}
  wrong_type ¦ $.default_action {"default_action":{}} ¦ $.rules {"rules":{}} ¦ $.rules {"rules":"x"}
  wrong_type ¦ $.rules[0] {"rules":[null]} ¦ $.rules[0] {"rules":[[]]} ¦ $.compute {"compute":[]}
  wrong_type ¦ $.compute {"compute":"x"} ¦ $.attention {"attention":true} ¦ $.attention {"attention":[]}
  wrong_type ¦ $.trusted_binaries {"trusted_binaries":[]} ¦ $.trusted_binaries {"trusted_binaries":"/usr/bin"}
  wrong_type ¦ $.trusted_binaries.dirs {"trusted_binaries":{"dirs":"/usr/bin"}}
  wrong_type ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":[1]}}
  wrong_type ¦ $.trusted_binaries.hashes {"trusted_binaries":{"hashes":[]}}
  wrong_type ¦ $.trusted_binaries.hashes["/a"] {"trusted_binaries":{"hashes":{"/a":1}}}
  wrong_type ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":1}]}
  wrong_type ¦ $.rules[0].tool {"rules":[{"action":"approve","tool":[]}]}
  wrong_type ¦ $.rules[0].when {"rules":[{"action":"approve","when":{}}]}
  wrong_type ¦ $.rules[0].when {"rules":[{"action":"approve","when":"x"}]}
  wrong_type ¦ $.rules[0].when[0] {"rules":[{"action":"approve","when":["x"]}]}
  wrong_type ¦ $.rules[0].when[0] {"rules":[{"action":"approve","when":[null]}]}
  wrong_type ¦ $.rules[0].action {"rules":[{"action":1}]}
  wrong_type ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":1.5}]}
  wrong_type ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":"1"}]}
  wrong_type ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":true}]}
  wrong_type ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","on_timeout":""}]}
  wrong_type ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","on_timeout":1}]}
  wrong_type ¦ $.rules[0].when[0].op {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":1,"key":"k"}]}]}
  wrong_type ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":1}]}]}
  wrong_type ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":"k","value":true}]}]}
  wrong_type ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":"k","value":[]}]}]}
  wrong_type ¦ $.compute.maxTurns {"compute":{"maxTurns":1.5}} ¦ $.compute.maxToolCalls {"compute":{"maxToolCalls":"1"}}
  wrong_type ¦ $.compute.modelAllowlist {"compute":{"modelAllowlist":"x"}}
  wrong_type ¦ $.compute.modelAllowlist[0] {"compute":{"modelAllowlist":[1]}}
  wrong_type ¦ $.compute.backendAllowlist {"compute":{"backendAllowlist":{}}}
  wrong_type ¦ $.compute.onExhausted {"compute":{"onExhausted":1}}
  wrong_type ¦ $.attention.allowAgentAnswers {"attention":{"allowAgentAnswers":"true"}}
  wrong_type ¦ $.attention.allowAgentApprovals {"attention":{"allowAgentApprovals":1}}
  wrong_type ¦ $.attention.maxAgentAnswers {"attention":{"maxAgentAnswers":1.5}}
  wrong_type ¦ $.attention.maxAgentApprovals {"attention":{"maxAgentApprovals":"3"}}
  wrong_type ¦ $.trusted_binaries.dirs {"trusted_binaries":{"dirs":null}}
  wrong_type ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":null}]}
  wrong_type ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":null}]}
  wrong_type ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","on_timeout":null}]}
  wrong_type ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":"k","value":null}]}]}
  wrong_type ¦ $.compute.maxTurns {"compute":{"maxTurns":null}}
  wrong_type ¦ $.compute.modelAllowlist {"compute":{"modelAllowlist":null}}
  wrong_type ¦ $.attention.maxAgentAnswers {"attention":{"maxAgentAnswers":null}}
  duplicate_member ¦ $ {"version":1,"version":1} ¦ $ {"rules":[],"rules":[]}
  duplicate_member ¦ $ {"rules":[{"action":"deny","when":[{"op":"eq","key":"a","key":"b"}]}]} ¦ $ {"//":1,"//":2}
  duplicate_member ¦ $ {"version":1,"\u0076ersion":1} ¦ $ {"rules":[{"action":"deny","//x":{"a":1,"a":2}}]}
  duplicate_member ¦ $ {"attention":{"allowAgentAnswers":true,"allowAgentAnswers":true}}
  unknown_member ¦ $.Version {"Version":1} ¦ $.rule {"rule":[]} ¦ $.description {"description":"x"}
  unknown_member ¦ $.$Schema {"$Schema":"x"} ¦ $[" //"] {" //":1} ¦ $[""] {"":1} ¦ $["a b"] {"a b":1}
  unknown_member ¦ $["a\"b"] {"a\"b":1} ¦ $.rules[0].name {"rules":[{"action":"approve","name":"x"}]}
  unknown_member ¦ $.rules[0].Tools {"rules":[{"action":"approve","Tools":"x"}]}
  unknown_member ¦ $.rules[0].timeout {"rules":[{"action":"approve","timeout":1}]}
  unknown_member ¦ $.rules[0].when[0].val {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":"k","val":"x"}]}]}
  unknown_member ¦ $.rules[0].when[0].negate {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":"k","negate":true}]}]}
  unknown_member ¦ $.compute.maxturns {"compute":{"maxturns":1}}
  unknown_member ¦ $.attention.allowAgentAnswer {"attention":{"allowAgentAnswer":true}}
  unknown_member ¦ $.trusted_binaries.dir {"trusted_binaries":{"dir":[]}}
  unknown_member ¦ $.trusted_binaries.Hashes {"trusted_binaries":{"Hashes":{}}} ¦ $.__proto__x {"__proto__x":1}
  unknown_member ¦ $.__proto__ {"__proto__":{}} ¦ $.constructor {"constructor":1}
  bad_digest ¦ $.trusted_binaries.hashes["//"] {"trusted_binaries":{"hashes":{"//":"x"}}}
  bad_digest ¦ $.trusted_binaries.hashes["/a"] {"trusted_binaries":{"hashes":{"/a":""}}}
  unsupported_version ¦ $.version {"version":-1} ¦ $.version {"version":2} ¦ $.version {"version":99999999999999999999}
  missing_member ¦ $.rules[0].action {"rules":[{}]} ¦ $.rules[0].action {"rules":[{"when":[]}]}
  missing_member ¦ $.rules[0].when[0].op {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"key":"k"}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq"}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":""}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"exists"}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","value":"x"}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","value":"x.com"}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"path_within","value":"."}]}]}
  missing_member ¦ $.rules[0].when[0].key {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"regex","value":"x"}]}]}
  bad_action ¦ $.default_action {"default_action":"ALLOW"} ¦ $.default_action {"default_action":"ask"}
  bad_action ¦ $.default_action {"default_action":" allow"} ¦ $.rules[0].action {"rules":[{"action":"Deny"}]}
  bad_action ¦ $.rules[0].action {"rules":[{"action":""}]} ¦ $.compute.onExhausted {"compute":{"onExhausted":"Ask"}}
  bad_action ¦ $.compute.onExhausted {"compute":{"onExhausted":""}}
  bad_action ¦ $.compute.onExhausted {"compute":{"onExhausted":"deny"}}
  out_of_range ¦ $.compute.maxTurns {"compute":{"maxTurns":100001}} ¦ $.compute.maxTurns {"compute":{"maxTurns":-1}}
  out_of_range ¦ $.compute.maxToolCalls {"compute":{"maxToolCalls":10000001}}
  out_of_range ¦ $.compute.maxToolCalls {"compute":{"maxToolCalls":-1}}
  out_of_range ¦ $.compute.maxTokens {"compute":{"maxTokens":100000000001}}
  out_of_range ¦ $.compute.maxTokens {"compute":{"maxTokens":-1}}
  out_of_range ¦ $.attention.maxAgentAnswers {"attention":{"maxAgentAnswers":1001}}
  out_of_range ¦ $.attention.maxAgentAnswers {"attention":{"maxAgentAnswers":-1}}
  out_of_range ¦ $.attention.maxAgentApprovals {"attention":{"maxAgentApprovals":1001}}
  out_of_range ¦ $.attention.maxAgentApprovals {"attention":{"maxAgentApprovals":-1}}
  out_of_range ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":604801}]}
  out_of_range ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":-2}]}
  out_of_range ¦ $.rules[0].timeout_s {"rules":[{"action":"approve","timeout_s":1e+300}]}
  bad_on_timeout ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","on_timeout":"allow"}]}
  bad_on_timeout ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","timeout_s":-1,"on_timeout":"deny"}]}
  bad_on_timeout ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","timeout_s":-1,"on_timeout":"allow"}]}
  bad_on_timeout ¦ $.rules[0].on_timeout {"rules":[{"action":"approve","timeout_s":30,"on_timeout":"allow"}]}
  bad_on_timeout ¦ $.rules[0].on_timeout {"rules":[{"action":"allow","on_timeout":"allow"}]}
  not_an_ask ¦ $.rules[0].timeout_s {"rules":[{"action":"allow","timeout_s":0}]}
  not_an_ask ¦ $.rules[0].on_timeout {"rules":[{"action":"allow","on_timeout":"deny"}]}
  not_an_ask ¦ $.rules[0].timeout_s {"rules":[{"action":"deny","timeout_s":0}]}
  not_an_ask ¦ $.rules[0].on_timeout {"rules":[{"action":"deny","on_timeout":"deny"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"a*"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"*a"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"**"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"a?"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"[a]"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"a]"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"["}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":" a"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"a "}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"\ta"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"a\n"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"a\u0001b"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"\u007f"}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":" "}]}
  bad_selector ¦ $.rules[0].tools {"rules":[{"action":"approve","tools":"\u0085x"}]}
  unknown_op
  bad_operand ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"in","key":"k"}]}]}
  bad_operand ¦ $.rules[0].when[0].key {"rules":[{"action":"deny","when":[{"op":"eq","key":"/a~2","value":"x"}]}]}
  bad_operand ¦ $.rules[0].when[0].key {"rules":[{"action":"deny","when":[{"op":"eq","key":"/a/b~","value":"x"}]}]}
  bad_operand ¦ $.rules[0].when[0].key {"rules":[{"action":"deny","when":[{"op":"exists","key":"/~0/~/c"}]}]}
  bad_operand ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"prefix","key":"k"}]}]}
  bad_operand ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"lt","key":"k"}]}]}
  bad_operand ¦ $.rules[0].when[0].value {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"command_path"}]}]}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":[""]}}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":["bin"]}}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":["./bin"]}}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":["~/bin"]}}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":["~"]}}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":["/a\u0000b"]}}
  bad_path ¦ $.trusted_binaries.dirs[0] {"trusted_binaries":{"dirs":[" /usr"]}}
  too_deep ¦ $ {"//":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}
`;

/** Operands that break the grammar of their operator (02 §7). */
const operands = String.raw`
  path_within ¦ "~" ¦ "~root/x" ¦ "~+" ¦ "$HOME" ¦ "$HOME/notes" ¦ "\u0024{HOME}/x"
  glob ¦ "~" ¦ "~root/**" ¦ "$HOME/**" ¦ "\u0024{HOME}/**" ¦ "{a,~}" ¦ "{~root,b}/x"
  command_path ¦ "~" ¦ "~root/.ssh/**" ¦ "$HOME/.ssh/**"
  in ¦ "" ¦ "[]" ¦ "a" ¦ "[\"a\",]" ¦ "[{}]" ¦ "[[]]" ¦ "[\"a\",null]" ¦ "{\"0\":1}" ¦ "\"a\"" ¦ "null" ¦ "[\"a\"] x"
  not_in ¦ "[]" ¦ "x"
  prefix ¦ ""
  suffix ¦ ""
  contains ¦ ""
  regex ¦ "" ¦ "(" ¦ ")" ¦ "[" ¦ "*a" ¦ "(?!a)" ¦ "(?<!a)b" ¦ "(?<=a)b" ¦ "(a)\\1" ¦ "\\k<a>" ¦ "a{1001}" ¦ "\\"
  regex ¦ "(?z)a" ¦ "[b-a]" ¦ "(?>a)" ¦ "a++" ¦ "\\Z"
  lt ¦ "" ¦ "x" ¦ "05" ¦ "+5" ¦ ".5" ¦ "5." ¦ "0x5" ¦ " 5" ¦ "5 " ¦ "Infinity" ¦ "-" ¦ "1e" ¦ "\"5\"" ¦ "true"
  lte ¦ "5,5"
  gt ¦ "1_000"
  gte ¦ "\u0663"
  exists ¦ "TRUE" ¦ "1" ¦ "no" ¦ " " ¦ "null"
  glob ¦ "" ¦ "[]" ¦ "[a" ¦ "[!]" ¦ "[^]" ¦ "{a" ¦ "a}" ¦ "{a,{b}" ¦ "{{{}}" ¦ "a{b}}"
  glob ¦ "{1,2,3,4,5,6,7,8,9,0,a}{1,2,3,4,5,6,7,8,9,0,a}{1,2,3,4,5,6,7,8,9,0,a}"
  path_within ¦ ""
  host ¦ "" ¦ " " ¦ "a.com," ¦ ",a.com" ¦ "a .com" ¦ "http://a.com" ¦ "a.com/x" ¦ "a.com:80" ¦ "u@a.com" ¦ "*"
  host ¦ "*.*.com" ¦ "a.*.com" ¦ "a*.com" ¦ "*a.com" ¦ "a.com?x" ¦ "a.com#x" ¦ "[::1]:80" ¦ "1.2.3.4:80" ¦ "1.2.3.4/8"
  host ¦ "*.1.2.3.4" ¦ "a.com\n" ¦ "a..com" ¦ "**.a.com"
  command_blacklist ¦ "" ¦ "," ¦ " , " ¦ "rm -rf" ¦ "/bin/rm" ¦ "a\\b" ¦ "a;b" ¦ "a|b" ¦ ">" ¦ "&&" ¦ "rm,a b"
  command_blacklist ¦ "rm\u200b" ¦ "\u202erm" ¦ "ls,r\u0000m"
  command_prefix_allowlist ¦ "rm\u200b" ¦ "git pu\u0000sh" ¦ "ls, r\u00adm\u2060 x"
  command_ask_always ¦ "" ¦ "x y" ¦ "./x" ¦ "a<b" ¦ "(x)"
  command_prefix_allowlist ¦ "" ¦ ","
  command_path ¦ "" ¦ "[a" ¦ "{a"
`;

/** Documents without a fault. */
const sound = String.raw`
  fine ¦  {}  ¦ {"rules":[{"action":"deny"},{"action":"deny"}]} ¦ {"$schema":"x","//":{"a":1},"//x":[]}
  fine ¦ {"compute":{"//":1,"$schema":1}} ¦ {"attention":{"//":1}} ¦ {"trusted_binaries":{"//":1,"$schema":"x"}}
  fine ¦ {"version":0} ¦ {"version":1} ¦ {"version":null} ¦ {"version":1.0} ¦ {"version":-0.0} ¦ {"version":1e0}
  fine ¦ {"version":10e-1} ¦ {"compute":{"onExhausted":"fail"}} ¦ {"compute":{"onExhausted":"ask"}}
  fine ¦ {"compute":{"onExhausted":"finish"}} ¦ {"compute":{"onExhausted":"finish_stuck"}} ¦ {"compute":{"maxTurns":0}}
  fine ¦ {"compute":{"maxTurns":100000}} ¦ {"compute":{"maxToolCalls":0}} ¦ {"compute":{"maxToolCalls":10000000}}
  fine ¦ {"compute":{"maxTokens":0}} ¦ {"compute":{"maxTokens":100000000000}} ¦ {"attention":{"maxAgentAnswers":0}}
  fine ¦ {"attention":{"maxAgentAnswers":1000}} ¦ {"attention":{"maxAgentApprovals":0}}
  fine ¦ {"attention":{"maxAgentApprovals":1000}} ¦ {"rules":[{"action":"approve","timeout_s":-1}]}
  fine ¦ {"rules":[{"action":"approve","timeout_s":0}]} ¦ {"rules":[{"action":"approve","timeout_s":1}]}
  fine ¦ {"rules":[{"action":"approve","timeout_s":604800}]} ¦ {"rules":[{"action":"approve","on_timeout":"Allow"}]}
  fine ¦ {"rules":[{"action":"approve","on_timeout":"deny"}]} ¦ {"rules":[{"action":"approve","on_timeout":"approve"}]}
  fine ¦ {"rules":[{"action":"approve","on_timeout":" allow"}]} ¦ {"rules":[{"action":"approve","tools":"","tool":""}]}
  fine ¦ {"rules":[{"action":"approve","tools":"*","tool":"*"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"a","tool":"a"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"a b","tool":"a b"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"a.b","tool":"a.b"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"\u00e9","tool":"\u00e9"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"{a}","tool":"{a}"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"a/b","tool":"a/b"}]}
  fine ¦ {"rules":[{"action":"approve","tools":"\u65e5\u672c","tool":"\u65e5\u672c"}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"in","key":"path","value":"[1]"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"in","key":"path","value":" [true] "}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"in","key":"path","value":"[\"\"]"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"prefix","key":"path","value":" "}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"regex","key":"path","value":"(?i)a"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"regex","key":"path","value":"(?P<x>a)"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"regex","key":"path","value":"a{1000}"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"regex","key":"path","value":"\\pL"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"regex","key":"path","value":".*"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"lt","key":"path","value":"-0"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"lt","key":"path","value":"1E5"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"gt","key":"path","value":"1e-400"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"exists","key":"path","value":"false"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"{x}"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"{a,b,}"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"{}"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"\\{"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"a]"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"[a-z]"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"~/"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"path_within","key":"path","value":"./~"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"path_within","key":"path","value":"$RECYCLE.BIN"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"eq","key":"/a~0b~1c~01","value":"x"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"glob","key":"path","value":"**"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"path_within","key":"path","value":"/"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"path_within","key":"path","value":"~/x"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","key":"path","value":"a"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","key":"path","value":"a_b.com"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","key":"path","value":"*.com"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","key":"path","value":"::1"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","key":"path","value":"[::1]"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"host","key":"path","value":"127.0.0.1"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"command_path","key":"path","value":"**"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"command_blacklist","value":"rm"}]}]}
  fine ¦ {"rules":[{"tools":"x","tool":"y","action":"deny","when":[{"op":"command_path","value":"x"}]}]}
  fine ¦ {"compute":{"modelAllowlist":[]}} ¦ {"compute":{"backendAllowlist":[]}} ¦ {"trusted_binaries":{"dirs":["/"]}}
  fine ¦ {"trusted_binaries":{"dirs":["/a/../b","//x"]}} ¦ {"trusted_binaries":{"dirs":[],"hashes":{}}}
  fine ¦ {"trusted_binaries":{"hashes":{"/a":"AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA"}}}
  fine ¦ {"trusted_binaries":{"hashes":{"/a":"aBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaBaB"}}}
  fine ¦ {"default_action":null} ¦ {"rules":null} ¦ {"compute":null} ¦ {"attention":null} ¦ {"trusted_binaries":null}
  fine ¦ {"version":null} ¦ {"rules":[{"action":"approve","when":null}]}
  fine ¦ {"//":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}
  fine ¦ {"rules":[{"action":"allow"},{"action":"deny"}]} ¦ {"rules":[{"action":"deny"},{"action":"allow"}]}
  fine ¦ {"rules":[{"action":"allow"},{"action":"approve"}]} ¦ {"rules":[{"action":"deny"},{"action":"approve"}]}
  fine ¦ {"rules":[{"action":"approve"},{"action":"deny"}]}
  fine ¦ {"rules":[{"tools":"echo","action":"allow"},{"tools":"echo","tool":"echo","action":"deny"}]}
  fine ¦ {"rules":[{"tools":"echo","tool":"echo","action":"allow"},{"tools":"echo","action":"deny"}]}
  fine ¦ {"rules":[{"tools":"local_fs","tool":"nope","action":"deny"}]}
  fine ¦ {"rules":[{"tools":"local_fs","tool":"read_file","action":"allow"}]}
  fine ¦ {"rules":[{"tools":"web","tool":"web_get","action":"approve"}]}
  fine ¦ {"rules":[{"tools":"plan_manager","tool":"create_plan","action":"approve"}]}
  fine ¦ {"rules":[{"tool":"read_file","action":"deny"}]}
  fine ¦ {"rules":[{"tools":"echo","action":"allow","when":[{"op":"regex","key":"input","value":".*x.*"}]}]}
  fine ¦ {"rules":[{"tools":"echo","action":"allow","when":[{"op":"regex","key":"input","value":".*x"}]}]}
  fine ¦ {"rules":[{"tools":"echo","action":"deny","when":[{"op":"regex","key":"input","value":".*x.*"}]}]}
  fine ¦ {"rules":[{"action":"approve","timeout_s":604800,"tools":"echo"}]}
`;

const rowsOf = (table: string): readonly (readonly [head: string, cell: string])[] =>
  table
    .trim()
    .split('\n')
    .flatMap((line) => {
      const [head = '', ...cells] = line.trim().split(' ¦ ');
      return cells.map((cell) => [head, cell] as const);
    });

const found = async (document: string) => (await parsePolicy(document)).findings.map(({ path, code }) => [path, code]);

const condition = (op: string, value: string): string =>
  JSON.stringify({ rules: [{ action: 'deny', when: [{ key: 'k', op, value }] }] });

describe('a document', () => {
  it.each(rowsOf(documents))('is refused with %s: %s', async (code, cell) => {
    const at = cell.startsWith('$["') ? cell.indexOf('"] ') + 2 : cell.indexOf(' ');
    expect(await found(cell.slice(at + 1))).toEqual([[cell.slice(0, at), code]]);
  });

  it.each(rowsOf(operands))('is refused for an operand of %s: %s', async (op, operand) => {
    expect(await found(condition(op, JSON.parse(operand)))).toEqual([['$.rules[0].when[0].value', 'bad_operand']]);
  });

  it.each([
    '',
    'Eq',
    'equals',
    '==',
    'glob ',
    'command_allowlist',
    'any',
    'not',
    'matches',
    'toString',
    'constructor',
    '__proto__',
    'hasOwnProperty',
  ])('is refused for the operator %j', async (op) => {
    expect(await found(condition(op, 'x'))).toEqual([['$.rules[0].when[0].op', 'unknown_op']]);
  });

  it.each(rowsOf(sound))('is %s: %s', async (_fine, document) => {
    expect(await found(document)).toEqual([]);
  });
});
