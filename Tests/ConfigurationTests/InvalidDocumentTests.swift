import Testing

@testable import Configuration

/// Documents that are refused, each with every line that is to be said about it.
@Suite struct InvalidDocumentTests {
    struct Row: Sendable, CustomTestStringConvertible {
        var document: String
        var lines: [String]

        init(_ document: String, _ lines: String...) {
            self.document = document
            self.lines = lines
        }

        var testDescription: String { lines.first ?? document }
    }

    @Test(arguments: syntax + schema + functions + semantics)
    func isRefused(_ row: Row) {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Configuration(parsing: Array(row.document.utf8), file: "functions.json", mode: .development)
        }
        #expect(error?.description == row.lines.map { "functions.json:\($0)" }.joined(separator: "\n"))
    }

    static let syntax = [
        Row("", "1:1: expected a JSON document, found an empty file"),
        Row(" \n ", "2:2: expected a JSON document, found an empty file"),
        Row("{", "1:2: the file ends inside the object that starts in line 1"),
        Row("{\n\"plugins\": {", "2:13: the file ends inside the object that starts in line 2"),
        Row(#"{"project": "demo-hearth""#, "1:26: the file ends inside the object that starts in line 1"),
        Row(#"{"project" "demo-hearth"}"#, #"1:12: expected a colon after the key "project", found a text"#),
        Row(#"{"project": }"#, #"1:13: expected a value, found "}""#),
        Row(#"{'project': 1}"#, #"1:2: expected a key in double quotes, found "'""#),
        Row(#"{project: 1}"#, "1:2: expected a key in double quotes, found project"),
        Row(#"{"project": 'demo-hearth'}"#, "1:13: expected a value, found a single quote; text needs double quotes"),
        Row(#"{"project": True}"#, "1:13: expected a value, found True; JSON writes true"),
        Row(#"{"project": None}"#, "1:13: expected a value, found None; JSON writes null"),
        Row(#"{"project": 01}"#, "1:13: a number may not begin with a zero"),
        Row(#"{"project": -}"#, #"1:14: expected a digit after the minus sign, found "}""#),
        Row(#"{"project": 1.}"#, #"1:15: expected a digit after the decimal point, found "}""#),
        Row(#"{"project": 1e}"#, #"1:15: expected a digit in the exponent, found "}""#),
        Row(#"{"project": 1e999}"#, "1:13: the number 1e999 is too large"),
        Row(#"{"project": .5}"#, #"1:13: expected a value, found ".""#),
        Row("{\"project\": \"demo\n", "1:13: the text that begins here has no closing quote in its line"),
        Row("{\"project\": \"a\tb\"}", "1:15: a control character in text is written as an escape such as \\t"),
        Row(#"{"project": "\x"}"#, #"1:14: an escape in text is one of \" \\ \/ \b \f \n \r \t \uXXXX"#),
        Row(#"{"project": "\u12G4"}"#, "1:14: \\u is followed by four hexadecimal digits"),
        Row(#"{"project": "\ud800"}"#, "1:14: half of a surrogate pair is not a character"),
        Row(#"{"project": "demo-hearth"} x"#, "1:28: expected the end of the file after the document, found x"),
        Row(#"{"project": ["a" "b"]}"#, "1:18: expected a comma or the end of the list, found a text"),
        Row(String(repeating: "[", count: 101), "1:101: lists and objects are nested more than 100 deep"),
        // Read over, so that what follows is checked as well.
        Row("{ // the project\n\"project\": \"demo-hearth\" /* here */ }",
            "1:3: comments are not allowed in JSON", "2:26: comments are not allowed in JSON"),
        Row("# my host\n{\"project\": \"demo-hearth\"}", "1:1: comments are not allowed in JSON"),
        Row(#"{"project": "demo-hearth",}"#, "1:26: a comma before the end of the object is not allowed in JSON"),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"secrets": ["A",]}}}"#,
            "1:63: a comma before the end of the list is not allowed in JSON"),
        Row("{\"project\": \"demo-hearth\",\n\"region\": \"a\",\n\"region\": \"b\"}",
            #"3:1: the key "region" occurs twice in this object, before in line 2"#),
        Row("{\"project\": \"demo-hearth\",\n \"servre\": {},\n}",
            #"2:2: servre: unknown key; did you mean "server"?"#, "2:14: a comma before the end of the object is not allowed in JSON"),
    ]

    static let schema = [
        Row("[]", "1:1: expected an object, found an empty list"),
        Row("{}", "1:1: project: missing; expected \(project)"),
        Row(#"{"project": "Demo"}"#, #"1:13: project: expected \#(project), found "Demo""#),
        Row(#"{"project": 7}"#, "1:13: project: expected \(project), found 7"),
        Row(#"{"project": "demo-hearth", "port": 1}"#,
            "1:28: port: unknown key; expected one of project, region, server, plugins, functions, defaults, workers, auth, appCheck, "
                + "database, messaging, schedules, telemetry, http, cache, tasks, crashes, logging, watch"),
        Row(#"{"project": "demo-hearth", "server": {"prot": 1}}"#, #"1:39: server.prot: unknown key; did you mean "port"?"#),
        Row(#"{"project": "demo-hearth", "sever": {}, "server": {}}"#, #"1:28: sever: unknown key; did you mean "server"?"#),
        Row(#"{"project": "demo-hearth", "server": {"port": 65536}}"#,
            "1:47: server.port: expected an integer from 0 to 65535, found 65536"),
        Row(#"{"project": "demo-hearth", "server": {"port": 80.5}}"#,
            "1:47: server.port: expected an integer from 0 to 65535, found 80.5"),
        Row(#"{"project": "demo-hearth", "server": {"port": "80"}}"#,
            #"1:47: server.port: expected an integer from 0 to 65535, found "80""#),
        Row(#"{"project": "demo-hearth", "server": {"port": 1e300}}"#,
            "1:47: server.port: expected an integer from 0 to 65535, found 1e+300"),
        Row(#"{"project": "demo-hearth", "server": {"tls": {"key": ""}}}"#,
            "1:46: server.tls.certificate: missing; expected the path of a file",
            #"1:54: server.tls.key: expected the path of a file, found """#),
        Row(
            #"{"project": "demo-hearth", "messaging": {"a": 1}}"#,
            "1:42: messaging.a: unknown key; expected one of backend, google, webPush, apns, certificateAuthority, "
                + "storage, projectNumber, projects, ownerToken, reservedKeys, collapseNotifications, "
                + "uninstall, inactiveAfterDays, tokenExpiryDays, historySeconds, limits, quotas"),
        Row(#"{"project": "demo-hearth", "logging": {"level": "warn"}}"#,
            #"1:49: logging.level: expected "trace", "debug", "info", "notice", "warning", "error" or "critical", found "warn"; "#
                + #"did you mean "warning"?"#),
        Row(#"{"project": "demo-hearth", "logging": {"level": "eror"}}"#,
            #"1:49: logging.level: expected "trace", "debug", "info", "notice", "warning", "error" or "critical", found "eror"; "#
                + #"did you mean "error"?"#),
        Row(#"{"project": "demo-hearth", "auth": {"keys": {"firebase": false}}}"#, "1:58: auth.keys.firebase: expected true, found false"),
        Row(
            #"{"project": "demo-hearth", "appCheck": {"keys": {"firebase": true}}}"#,
            "1:49: appCheck.keys: these keys sign the tokens of every Firebase project; expected appCheck.projectNumber too"),
        Row(
            #"{"project": "demo-hearth", "appCheck": {"keys": {"jwksUrl": "https://firebaseappcheck.googleapis.com/v1/jwks"}}}"#,
            "1:49: appCheck.keys: these keys sign the tokens of every Firebase project; expected appCheck.projectNumber too"),
        Row(#"{"project": "demo-hearth", "auth": {"keys": {}}}"#, "1:45: auth.keys: expected at least 1 key, found 0"),
        Row(#"{"project": "demo-hearth", "auth": {"keys": {"jwksUrl": "ftp://x"}}}"#,
            #"1:57: auth.keys.jwksUrl: expected an address that starts with https:// or http://, found "ftp://x""#),
    ]

    static let functions = [
        Row(#"{"project": "demo-hearth", "functions": {"addMessage": {"timeoutSeconds": -1}}}"#,
            "1:75: functions.addMessage.timeoutSeconds: expected an integer from 1 to 3600, found -1"),
        Row(#"{"project": "demo-hearth", "functions": {"addMessage": {"timeoutSecond": 1}}}"#,
            #"1:57: functions.addMessage.timeoutSecond: unknown key; did you mean "timeoutSeconds"?"#),
        Row(#"{"project": "demo-hearth", "functions": {"2nd": {}}}"#,
            #"1:42: functions.2nd: expected a function's name of 1 to 63 letters, digits, _ and - that starts with a letter, "#
                + #"found "2nd""#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"memory": "256"}}}"#,
            #"1:58: functions.a.memory: expected an amount of memory such as "256MiB" or "1GiB", found "256""#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"memory": "64GiB"}}}"#,
            #"1:58: functions.a.memory: expected an amount of memory from 16MiB to 32GiB, found "64GiB""#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"cpu": 3}}}"#,
            #"1:55: functions.a.cpu: expected a number from 0.08 to 1, or 2, 4, 6, 8 or "gcf_gen1", found 3"#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"cors": 1}}}"#,
            #"1:56: functions.a.cors: expected true, false, an origin, {"regex": "..."} or a list of these, found 1"#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"cors": {"regexp": "x"}}}}"#,
            "1:56: functions.a.cors.regex: missing; expected text of 1 to 1000 characters",
            #"1:57: functions.a.cors.regexp: unknown key; did you mean "regex"?"#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"cors": [7]}}}"#,
            #"1:57: functions.a.cors[0]: expected an origin such as "https://app.example.org" or {"regex": "..."}, found 7"#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"cors": {"regex": "(?=x)"}}}}"#,
            "1:56: functions.a.cors: the regular expression is not understood: a group that starts with (? is supported only as (?:…); "
                + "look-around and named groups are not"),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"secrets": ["A", "b c", "A"]}}}"#,
            #"1:65: functions.a.secrets[1]: expected a secret's name of letters, digits, _ and -, found "b c""#,
            #"1:72: functions.a.secrets[2]: "A" occurs in the list twice, first at [0]"#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"labels": {"Team": "x"}}}}"#,
            #"1:59: functions.a.labels.Team: expected a label's key of 1 to 63 lower-case letters, digits, _ and - that "#
                + #"starts with a letter, found "Team""#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"heartbeatSeconds": "5"}}}"#,
            #"1:68: functions.a.heartbeatSeconds: expected a number from 0 to 3600 or null, found "5""#),
    ]

    static let semantics = [
        Row(#"{"project": "demo-hearth", "plugins": {"A": {}}}"#, "1:45: plugins.A: missing; expected a product or a library"),
        Row(#"{"project": "demo-hearth", "plugins": {"A": {"product": "A", "library": "a.so"}}}"#,
            "1:73: plugins.A.library: expected one of product and library, found both"),
        Row(#"{"project": "demo-hearth", "plugins": {"A": {"library": "/nowhere/a.so"}}}"#,
            #"1:57: plugins.A.library: expected a file, found nothing at "/nowhere/a.so""#),
        Row(#"{"project": "demo-hearth", "plugins": {"A": {"library": "/tmp"}}}"#,
            #"1:57: plugins.A.library: expected a file, found a folder at "/tmp""#),
        Row(#"{"project": "demo-hearth", "plugins": {"A": {"product": "A", "environment": "/nowhere"}}}"#,
            #"1:77: plugins.A.environment: expected a folder, found none at "/nowhere""#),
        Row(#"{"project": "demo-hearth", "server": {"tls": {"certificate": "/nowhere/c", "key": "/nowhere/k"}}}"#,
            #"1:62: server.tls.certificate: expected a file, found nothing at "/nowhere/c""#,
            #"1:83: server.tls.key: expected a file, found nothing at "/nowhere/k""#),
        Row(#"{"project": "demo-hearth", "database": {"rules": "/nowhere/rules.json"}}"#,
            #"1:50: database.rules: expected a file, found nothing at "/nowhere/rules.json""#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"memory": "1GiB", "cpu": 4}}}"#,
            "1:73: functions.a.cpu: 4 processors need at least 2GiB of memory, found 1GiB"),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"memory": "2GiB", "cpu": 0.5}}}"#,
            "1:73: functions.a.cpu: expected at least 1 with 2GiB of memory, found 0.5"),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"memory": "256MiB", "cpu": 0.5, "concurrency": 2}}}"#,
            "1:95: functions.a.concurrency: expected 1, since cpu is below 1; found 2"),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"minInstances": 3, "maxInstances": 2}}}"#,
            "1:64: functions.a.minInstances: expected at most maxInstances, which is 2, found 3"),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"labels": {"firebase-x": "1", "deployment": "2"}}}}"#,
            #"1:73: functions.a.labels.firebase-x: labels that start with "firebase" are reserved"#,
            #"1:92: functions.a.labels.deployment: labels that start with "deployment" are reserved"#),
        Row(#"{"project": "demo-hearth", "functions": {"a": {"invoker": ["public", "x"]}}}"#,
            #"1:59: functions.a.invoker: "public" cannot be combined with others in a list"#),
        // Everything at once, in the order of the lines.
        Row("{\n\"project\": \"demo-hearth\",\n\"server\": {\"port\": -1},\n\"plugins\": {\"A\": {}},\n"
                + "\"functions\": {\"a\": {\"memory\": 5, \"cpu\": 0}}\n}",
            "3:20: server.port: expected an integer from 0 to 65535, found -1",
            "4:18: plugins.A: missing; expected a product or a library",
            #"5:31: functions.a.memory: expected an amount of memory such as "256MiB" or "1GiB", found 5"#,
            #"5:41: functions.a.cpu: expected a number from 0.08 to 1, or 2, 4, 6, 8 or "gcf_gen1", found 0"#),
    ]

    private static let project = "a project id of 4 to 63 lower-case letters, digits and dashes that starts with a letter"

    @Test func bytesThatAreNotTextAreRefused() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Configuration(parsing: Array(#"{"project": ""#.utf8) + [0xFF, 0x22], file: "functions.json", mode: .development)
        }
        #expect(error?.description == "functions.json:1:14: expected text in UTF-8, found the byte 255")
    }

    @Test func fileThatIsNotThereIsRefused() {
        let error = #expect(throws: ConfigurationErrors.self) {
            try Configuration.load(file: "/nowhere/functions.json", mode: .production)
        }
        #expect(error?.description == "/nowhere/functions.json: cannot be read: No such file or directory; `hearth init` makes one, "
            + "--config names another")
    }
}
