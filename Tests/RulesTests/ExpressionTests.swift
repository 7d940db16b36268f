import Testing

/// Errors of refused expressions, with the column in the expression. The texts of the hosted compiler are in the table of cases; these rows
/// are about positions, and about errors that the table does not contain.
@Suite struct ExpressionTests {
    @Test(arguments: [
        ("", "1: syntax error: the expression is not complete"),
        ("true true", "6: syntax error: unexpected 'true'"),
        ("true)", "5: syntax error: unexpected ')'"),
        ("(true", "6: missing ) in parenthetical"),
        ("true ? true", "12: missing : in conditional expression"),
        ("auth['uid' == 1", "16: missing ] in index expression"),
        ("auth. == 1", "7: missing name after . operator"),
        ("'abc == 1", "1: unterminated string literal"),
        ("data.val().matches(/abc)", "20: unterminated regular expression literal"),
        ("true /* open", "6: unterminated comment"),
        ("'\\u12' == 'a'", "7: invalid escape in string literal"),
        ("1 === 1 & true", "9: syntax error: the operator & is not supported"),
        ("1 << 2 == 4", "3: syntax error: the operator << is not supported"),
        ("1 ^ 2 == 4", "3: syntax error: the operator ^ is not supported"),
        ("--1 == 1", "1: syntax error: the operator -- is not supported"),
        ("1 = 1", "3: Rule expressions may not contain assignments."),
        ("auth.uid += 1", "10: Rule expressions may not contain assignments."),
        ("true; true", "5: Rule expressions may contain only one expression."),
        ("typeof auth == 'a'", "1: syntax error: unexpected 'typeof'"),
        ("auth instanceof data", "6: syntax error: unexpected 'instanceof'"),
        ("function () {}", "1: syntax error: unexpected 'function'"),
        ("1a == 1", "1: syntax error: '1' is not a number"),
        ("1e == 1", "1: syntax error: '1e' is not a number"),
        ("1e999 == 1", "1: syntax error: '1e999' is not a number"),
        ("{} == 1", "1: syntax error: unexpected '{'"),
        ("auth.uid == 'a' && foo", "20: Unknown variable 'foo'."),
        ("foo() == 1", "1: Unknown variable 'foo'."),
        ("auth() == 1", "1: Type error: Function call on target that is not a function."),
        ("(1)() == 1", "2: Type error: Function call on target that is not a function."),
        ("query.orderByKey()", "1: Type error: Function call on target that is not a function."),
        ("data.exists == true", "1: Invalid == expression: left operand is not a number, boolean, string, null."),
        ("data.exists", "1: Expression must evaluate to a boolean."),
        ("data.child(1).exists()", "12: child() expects a string argument."),
        ("data.exists(1)", "1: exists() expects no arguments."),
        ("data.val().replace('a') == 'b'", "1: replace() expects 2 arguments."),
        ("data.val().matches() == true", "1: matches() expects 1 argument."),
        ("data.hasChild(true)", "15: hasChild() expects a string argument."),
        ("auth.foo() == 1", "1: Type error: Function call on target that is not a function."),
        ("auth.exists()", "1: Type error: Function call on target that is not a function."),
        ("auth.token.admin.val()", "1: Type error: Function call on target that is not a function."),
        ("now.val() == 1", "1: Type error: Function call on target that is not a function."),
        ("(true).exists()", "2: Type error: Function call on target that is not a function."),
        ("null.val() == 1", "1: Type error: Function call on target that is not a function."),
        ("data.exists().foo()", "1: Type error: Function call on target that is not a function."),
        ("data.foo() == 1", "6: No such method/property 'foo'."),
        ("data.val().foo() == 1", "12: No such method/property 'foo'."),
        ("'a'.foo() == 1", "5: No such method/property 'foo'."),
        ("query.foo()", "7: No such method/property 'foo'."),
        ("'a'.foo == 1", "5: No such method/property 'foo'."),
        ("(1).length == 1", "5: No such method/property 'length'."),
        ("data['foo'] == 1", "6: No such method/property 'foo'."),
        ("data[auth.uid] == 1", "1: Invalid property access."),
        ("auth[true] == 1", "6: Invalid property access."),
        ("query.orderByChild + 'a' == 'b'", "1: Invalid + expression: left operand is not a number or string."),
        ("auth.uid == query.orderByChild", "1: Invalid == expression: left operand must be an ordering or string literal"
            + " when comparing against an ordering."),
        ("query.orderByChild.length == 1", "20: No such method/property 'length'."),
        ("query == null", "1: Invalid == expression: left operand is not a number, boolean, string, null."),
        ("[1] == 1", "1: Invalid == expression: left operand is not a number, boolean, string, null."),
        ("/a/ == 'a'", "1: Invalid == expression: left operand is not a number, boolean, string, null."),
        ("1 !== data", "7: Invalid != expression: right operand is not a number, boolean, string, or null."),
        ("true + 1 == 2", "1: Invalid + expression: left operand is not a number or string."),
        ("1 + null == 2", "5: Invalid + expression: right operand is not a number or string."),
        ("1 % 'a' == 2", "5: Invalid % expression: right operand is not a number."),
        ("null < 1", "1: Invalid < expression: left operand must be a number or string."),
        ("true && auth.ok && true", "9: Right operand of && must be boolean."),
        ("(true ? data : 1) == 1", "16: Invalid ? expression: the two results are of different types."),
        ("!auth.ok", "2: ! only operates on booleans."),
    ])
    func isRefused(_ expression: String, _ text: String) {
        #expect(Judge.refusal(expression: expression) == text)
    }

    @Test func variablesBelongToTheirRules() {
        #expect(Judge.refusal(expression: "query.orderByKey", ".write") == "1: query is invalid in .write expressions.")
        #expect(Judge.refusal(expression: "query.orderByKey", ".validate") == "1: query is invalid in .validate expressions.")
        #expect(Judge.refusal(expression: "newData.exists()", ".validate") == nil)
        #expect(Judge.refusal("{\"rules\": {\"$a\": {\"b\": {\".read\": \"$a == 'x'\"}}, \"c\": {\".read\": \"$a == 'x'\"}}}")?
            .hasSuffix("Unknown variable '$a'.") == true)
    }

    @Test(arguments: [
        "true", "auth!=null", "data['exists']()", "auth['uid'] == auth.uid", "auth[auth.uid] == 1", "auth.token.list[0] == 'a'",
        "(true ? data : root).exists()", "(true ? 1 : 'a') == 1", "1 == .5", "1 == 1.", "1e3 == 1E+3", "- - 1 == 1", "!!true",
        "'a' /* b */ == 'a' // c", "auth.token.email.length > 3", "data.val().length == 3", "'ab'.length == 2",
        "data.hasChildren([auth.uid, 'a' + 'b'])", "query.orderByChild == null || query.orderByChild == 'x'",
        "data.val().matches(/[/]\\//)", "4 / 2 / 1 == 2", "root.child('a')['parent']().exists()", "auth.contains == 1",
        "null == null", "auth == null && 'x'.contains('x')", "query.limitToFirst <= 10 && query.equalTo == auth.uid",
    ])
    func isAccepted(_ expression: String) {
        #expect(Judge.refusal(expression: expression) == nil)
    }

    @Test func nestingIsBounded() {
        for (open, close) in [("(", ")"), ("!", ""), ("- ", ""), ("auth[", "]")] {
            let expression = String(repeating: open, count: 50_000) + "true" + String(repeating: close, count: 50_000)
            #expect(Judge.refusal(expression: expression)?.hasSuffix("Rule expression is nested too deeply.") == true)
        }
        let long = Array(repeating: "1", count: 50_000)
        #expect(Judge.refusal(expression: long.joined(separator: " + ") + " == 1")?.hasSuffix("nested too deeply.") == true)
        #expect(Judge.refusal(expression: "data" + String(repeating: ".parent()", count: 50_000) + ".exists()")?
            .hasSuffix("nested too deeply.") == true)
        #expect(Judge.refusal(expression: long.map { "\($0) == 1" }.joined(separator: " ? true : ") + " ? true : false")?
            .hasSuffix("nested too deeply.") == true)
        // Realistic long rules.
        #expect(Judge.refusal(expression: long.map { "auth.uid == '\($0)'" }.joined(separator: " || ")) == nil)
    }
}
