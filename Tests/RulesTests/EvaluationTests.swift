import HearthJSON
import Rules
import Testing
import Tree

/// Values of expressions, beyond the table of cases.
@Suite struct EvaluationTests {
    static let data = #"{"s": "text", "n": 7, "b": true, "o": {"k": 1, "5": "five"}, "big": 9007199254740993, "p": {".value": "v", ".priority": 3}}"#
    static let auth: JSONValue = [
        "uid": "u1", "provider": "custom",
        "token": ["email": "u1@corp.example", "level": 5, "list": ["a", ["b"]], "org": ["tier": "gold", "length": 12], "big": 9_007_199_254_740_993],
    ]

    @Test(arguments: [
        "2 + 3 * 4 == 14", "-7 % 3 == -1", "7 % -3 == 1", "1 - -1 == 2", "'a' + 'b' + 1 == 'ab1'", "1 + 2 + 'a' == '3a'", "'' + 0.5 == '0.5'",
        "'' + 1e21 == '1e+21'", "'' + -0 == '0'", "'' + 1/0 == 'NaN'", "0 == -0", "1/0 != 1/0", "!(1/0 < 1)", "!(1/0 >= 1)",
        "'a' < 'b' && 'a' < 'aa' && 'B' < 'a'", "'\u{FF5E}' > '\u{1F525}'", "'é' != 'e\\u0301'", "'a' <= 'a' && 'a' >= 'a'",
        "data.child('big').val() == 9007199254740993 == false", "data.child('big').val() == auth.token.big", "data.child('big').val() - 1 > 0",
        "data.child('big').val() + '' == '9007199254740993'", "data.child('big').val() > 9007199254740990",
        "data.child('o').val() != null", "!(data.child('o').val() == null)", "null != data.child('o').val()", "data.child('q').val() == null",
        "data.child('o').val() != data.child('o').val()", "(data.exists() ? data.child('o') : root).child('k').val() == 1",
        "data.child('o').child('5').val() == 'five'", "data.child('o/' + 5).exists()", "data.child('//o//k//').exists()", "data.child('').exists()",
        "data.child('o/k').parent().parent().child('n').isNumber()", "data.child('a.b').parent().child('s').exists()",
        "data.child('a.b/c').parent().parent().child('s').exists()", "!data.child('a$b').exists()", "data.child('s/x').val() == null",
        "!data.child('s').hasChildren(['x'])", "data.hasChildren(['s', 'o/k', auth.token.list[0]]) == false",
        "data.hasChildren([root.child('s').val()]) == false",
        "data.child(root.child('o').exists() ? 's' : 'n').isString()",
        "data.child(data.child(data.child('q').exists() ? 'q' : 's').val()).exists() == false",
        "data.child('p').getPriority() == 3 && data.getPriority() == null", "data.isString() == false && data.child('b').isBoolean()",
        "auth.token.list[0] == 'a' && auth.token.list[1][0] == 'b' && auth.token.list[7] == null && auth.token.list['x'] == null",
        "auth.token['org']['tier'] == 'gold'", "auth.token.org.length == 12", "auth.uid.length == 2", "auth.uid.nothing == null",
        "auth.nothing.at.all == null", "(auth.uid == 'u1' ? auth.token : auth).level == 5", "auth != null && auth.token != auth.token",
        "'Straße'.toUpperCase() == 'STRASSE'", "'ÀB'.toLowerCase() == 'àb'", "'a🔥'.length == 3", "'aXbX'.replace('X', '') == 'ab'",
        "'aaa'.replace('aa', 'b') == 'ba'", "'abc'.replace('', 'x') == 'abc'", "'abc'.contains('') && 'abc'.beginsWith('') && 'abc'.endsWith('')",
        "'a.b'.replace('.', '$1') == 'a$1b'", "!'ab'.beginsWith('abc') && !'bc'.endsWith('abc')", "now == 1000000", "'a\\'b\\\\' == \"a'b\\\\\"",
        "'\\x41\\u0042\\ud83d\\udd25' == 'AB🔥'", "'\\ud83dx' == '\\uFFFDx'", "true ? true : false ? false : false",
        "(1 == 1 ? 1 : 'a') == 1", "false || true || false", "true && !false && true", "true == true == true",
        "1 == 1 || data.child('s').val() > 1", "!(1 == 2 && data.child('s').val() > 1)",
    ])
    func holds(_ expression: String) throws {
        let step = try Judge.step(expression, data: Self.data, auth: Self.auth)
        #expect(step.outcome == .holds, "\(step.reason ?? "")")
    }

    /// An operand that cannot be evaluated makes the whole expression an error, whatever the rest of it or `!` would give.
    @Test(arguments: [
        "data.child('s').val() > 1", "1 > data.child('s').val()", "data.child('o').val() + 1 == 1", "data.child('b').val() * 2 == 2",
        "-data.child('s').val() == 1", "data.child('o').val().length == 1", "data.child('n').val().length == 1", "auth.token.level.length == 1",
        "auth.token.nothing.length != 1", "auth.token.level.contains('5')", "'a'.contains(auth.token.level)", "data.hasChild(auth.token.level)",
        "data.hasChildren(['s', auth.nothing])", "root.parent().exists()", "data.child('s').parent().parent().exists()", "auth[auth.token] == 1",
        "data.child('q').val().matches(/a/)", "'a'.replace(auth.token.level, 'b') == 'a'", "data.val() < 1", "null + auth.uid == 'u1' || true",
        "data.child('q').val() - 1 == 0",
    ])
    func isAnError(_ expression: String) throws {
        guard Judge.refusal(expression: expression) == nil else { return }
        for text in ["\(expression) || true", "!(\(expression))", "true && (\(expression) || true)"] {
            #expect(try Judge.outcome(text, data: Self.data, auth: Self.auth) == .error, "\(text)")
        }
    }

    @Test func nobodyIsSignedIn() throws {
        #expect(try Judge.outcome("auth == null && auth.uid == null && auth.token.a.b == null && auth['x'] == null") == .holds)
        #expect(try Judge.outcome("auth == null", auth: .null) == .holds)
        #expect(try Judge.outcome("auth.uid.length != 1 || true") == .error)
    }

    /// The hosted service does the same.
    @Test func withoutAQueryTheOrderIsThatOfKeys() throws {
        #expect(try Judge.outcome("query.orderByKey") == .holds)
        #expect(try Judge.outcome("query.orderByKey == false") == .fails)
        #expect(try Judge.outcome("!query.orderByValue && !query.orderByPriority && query.orderByChild == null") == .holds)
    }

    @Test func queryIsWhatIsAskedFor() throws {
        var query = Query(order: .child(Path(["a", "b"])), start: .startAt(.number(1)), end: .endAt(.number(1)), limit: 5)
        #expect(try Judge.outcome("query.orderByChild == 'a/b' && query.equalTo == 1 && query.startAt == 1 && query.endAt == 1",
        query: query) == .holds)
        #expect(try Judge.outcome("query.limitToFirst == 5 && query.limitToLast == null && !query.orderByKey", query: query) == .holds)
        query.anchorsLast = true
        query.start = .startAfter(.number(1))
        #expect(try Judge.outcome("query.limitToLast == 5 && query.limitToFirst == null && query.equalTo == null", query: query) == .holds)
        #expect(try Judge.outcome("query.orderByPriority && query.startAt == null", query: Query()) == .holds)
        #expect(try Judge.outcome("query.equalTo == true", query: Query(order: .value, start: .startAt(.true), end: .endAt(.true))) == .holds)
    }

    /// A tree that remembers what it was asked.
    private final class Asked: RuleData {
        let data: NodeData
        var questions: [String] = []

        init(_ data: NodeData) { self.data = data }

        private func note(_ question: String, _ key: PathKey) { questions.append("\(question) \(PathKey.path(of: key.bytes.span))") }

        func leaf(at key: PathKey) -> Leaf? {
            note("leaf", key)
            return data.leaf(at: key)
        }

        func exists(at key: PathKey) -> Bool {
            note("exists", key)
            return data.exists(at: key)
        }

        func hasChildren(at key: PathKey) -> Bool {
            note("hasChildren", key)
            return data.hasChildren(at: key)
        }

        func priority(at key: PathKey) -> Priority? {
            note("priority", key)
            return data.priority(at: key)
        }
    }

    @Test(arguments: [
        ("true || data.exists()", []), ("data.child('s').val() == 'text'", ["leaf /s"]), ("data.child('o').child('k').val() != null",
        ["exists /o/k"]),
        ("data.val() == 1", ["leaf /", "hasChildren /"]), ("data.hasChildren(['x', 'y'])", ["exists /x"]), ("data.getPriority() == null",
        ["priority /"]),
        ("data.child('a.b').exists() || data.child('n').isString()", ["leaf /n"]),
        ("root.child(data.child('s').val()).exists()", ["leaf /s", "exists /text"]),
    ])
    func onlyWhatIsTouchedIsRead(_ expression: String, _ questions: [String]) throws {
        let rules = try Judge.rules(expression: expression)
        let asked = Asked(NodeData(try Judge.node(Self.data)))
        _ = rules.read(.root, query: nil, context: RuleContext(auth: nil, now: 0), data: asked)
        #expect(asked.questions == questions)
    }
}
