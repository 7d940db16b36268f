import FuzzSupport
import Testing

@testable import HearthFunctions

extension SDK {
    @Suite struct Forms {
        private func read(_ body: String, boundary: String = "b", partsMax: Int = 10) throws(HttpsError) -> FormData {
            try MultipartReader.read(Array(body.replacing("\n", with: "\r\n").utf8), boundary: boundary, partsMax: partsMax)
        }

        private func problem(_ body: String, boundary: String = "b", partsMax: Int = 10) -> String {
            do throws(HttpsError) {
                return "read: \(try read(body, boundary: boundary, partsMax: partsMax))"
            } catch {
                #expect(error.code == .invalidArgument)
                return error.message
            }
        }

        private static let disposition = "Content-Disposition: form-data; name="

        @Test func fieldsAndFiles() throws {
            let form = try read(
                """
                ignored
                --b
                Content-Disposition: form-data; name="title"

                Grüße
                --b \t
                content-disposition: FORM-DATA; Name=tag
                Content-Type: text/plain; charset=utf-8

                --b
                \(Self.disposition)"tag"

                two
                lines
                --b
                \(Self.disposition)"photo"; filename="C:\\My Pictures\\a %22b%22.png"
                Content-Type: image/png

                --bx
                -- b
                --b
                \(Self.disposition)"none"; filename=""
                Content-Type: application/octet-stream


                --b--
                ignored
                --b
                """)
            #expect(form.fields == [("title", "Grüße"), ("tag", ""), ("tag", "two\r\nlines")].map { FormData.Field(name: $0.0, value: $0.1) })
            let bytes = Array("--bx\r\n-- b".utf8)
            #expect(form.files == [FormData.File(name: "photo", fileName: "a \"b\".png", contentType: "image/png", bytes: bytes)])
            #expect(form["title"] == "Grüße" && form["x"] == nil && form.all("tag") == ["", "two\r\nlines"])
            #expect(form.file("photo")?.bytes.count == 10 && form.file("none") == nil)
        }

        @Test func everyByteOfAFileStays() throws {
            let content = (0..<4).flatMap { _ in (0...255).map { UInt8($0) } } + Array("\r\n\r\n--\r\n-".utf8)
            let body = Array("--b\r\n\(Self.disposition)f; filename=f\r\n\r\n".utf8) + content + Array("\r\n--b--".utf8)
            #expect(try MultipartReader.read(body, boundary: "b", partsMax: 1).file("f")?.bytes == content)
            #expect(try read("--b--").fields.isEmpty)
        }

        @Test(arguments: [
            ("", "no line with the boundary"), ("--c\n", "no line with the boundary"), ("--b\n", "headers do not end"),
            ("--b\n\n", "ends within part 1"), ("--b\nX: y\n\nx\n--b", "ends within part 1"),
            ("--b\nX: y\n\nx\n--b--", "without a Content-Disposition"),
            ("--b\nnonsense\n\nx\n--b--", "header line without a colon"),
            ("--b\nContent-Disposition: attachment; name=x\n\nx\n--b--", "\"form-data\" with a name"),
            ("--b\nContent-Disposition: form-data\n\nx\n--b--", "\"form-data\" with a name"),
            ("--b\nContent-Disposition: form-data; name=\"x\n\nx\n--b--", "\"form-data\" with a name"),
            ("--b\nContent-Disposition: form-data; name=x; name=y\n\nx\n--b--", "\"form-data\" with a name"),
            ("--b\nContent-Disposition: form-data; name=x\nContent-Transfer-Encoding: base64\n\nx\n--b--", "Content-Transfer-Encoding"),
            ("--b\nContent-Disposition: form-data; name=x\nContent-Disposition: form-data; name=y\n\nx\n--b--", "not one \"form-data\""),
        ])
        func malformedForms(_ body: String, _ reason: String) { #expect(problem(body).contains(reason), "\(problem(body))") }

        @Test func limits() {
            let part = "--b\n\(Self.disposition)x\n\nx\n"
            #expect(problem(String(repeating: part, count: 3) + "--b--", partsMax: 2).contains("more than 2 parts"))
            #expect(problem(String(repeating: part, count: 2) + "--b--", partsMax: 2).hasPrefix("read"))
            let long = String(repeating: "x", count: 9000)
            #expect(problem("--b\nX-Long: \(long)\n\(Self.disposition)x\n\nx\n--b--").contains("headers do not end within"))
            for boundary in ["", String(long.prefix(71))] { #expect(problem("--b--", boundary: boundary).contains("1 to 70")) }
            let body = Array("--b\r\n\(Self.disposition)x\r\n\r\n".utf8) + [0xFF] + Array("\r\n--b--".utf8)
            #expect(throws: HttpsError.self) { try MultipartReader.read(body, boundary: "b", partsMax: 1) }
        }

        @Test(arguments: [
            ("a/b", "a/b", [:]), (" A/B ; Boundary=x ; y=\"a;\\\"b\\\\\" ", "a/b", ["boundary": "x", "y": "a;\"b\\"]), ("a/b;", "a/b", [:]),
            ("a/b; x=\"c:\\dir\"", "a/b", ["x": "c:\\dir"]),
        ] as [(String, String, [String: String])])
        func headerValues(_ text: String, _ value: String, _ parameters: [String: String]) throws {
            let read = try #require(HeaderValue(text))
            #expect(read.value == value && read.parameters == parameters)
        }

        @Test(arguments: ["a; x", "a; x=", "a; x=\"b", "a; x=\"b\"c", "a; =b", "a; x=1; X=2"])
        func malformedHeaderValues(_ text: String) { #expect(HeaderValue(text) == nil) }

        @Test func requests() throws {
            let host = try #require(
                FakeHost(
                    Functions {
                        OnRequest("f") { request in
                            let form = try request.form(partsMax: 3)
                            return Response(text: form.fields.map { "\($0.name)=\($0.value)" }.joined(separator: ";"))
                        }
                    }))
            func send(_ type: String?, _ body: String) -> String? {
                let fields = type.map { #""content-type","\#($0)""# } ?? ""
                return host.call("f", body, context: #"{"method":"POST","path":"/","headers":[\#(fields)]}"#)?.body
            }
            #expect(send("application/x-www-form-urlencoded; charset=utf-8", "a=1+2&b=%C3%A9&c") == "a=1 2;b=é;c=")
            #expect(send("application/x-www-form-urlencoded", "") == "")
            #expect(send("application/x-www-form-urlencoded", "a&b&c&d")?.contains("3 are the most") == true)
            #expect(send("multipart/form-data; boundary=b", "--b\r\n\(Self.disposition)x\r\n\r\ny\r\n--b--") == "x=y")
            #expect(send("multipart/form-data", "--b--")?.contains("names no boundary") == true)
            #expect(send("text/plain", "a=1")?.contains("The body is text/plain") == true)
            #expect(send(nil, "a=1")?.contains("needs one header Content-Type") == true)
        }

        /// A body is refused, or writing the form that was read gives a body that means the same.
        @Test func anyBody() throws {
            let run = FuzzRun(
                try FuzzCorpus.load("Multipart/corpus"),
                words: ["\r\n", "--b", "--b--", "\r\n\r\n", "Content-Disposition: form-data; name=\"x\"", "; filename="], rounds: 20_000)
            let complaint = run.complaint { bytes in
                guard let form = try? MultipartReader.read(bytes, boundary: "b", partsMax: 20) else { return nil }
                var body: [UInt8] = []
                func write(_ name: String, _ more: String, _ content: [UInt8]) {
                    let escapes = [("\\", "\\\\"), ("\"", "%22"), ("\r", "%0D"), ("\n", "%0A")]
                    let quoted = escapes.reduce(name) { $0.replacing($1.0, with: $1.1) }
                    body += Array("--b\r\nContent-Disposition: form-data; name=\"\(quoted)\"\(more)\r\n\r\n".utf8) + content + Array("\r\n".utf8)
                }
                for field in form.fields { write(field.name, "", Array(field.value.utf8)) }
                for file in form.files { write(file.name, "; filename=\"x\"", file.bytes) }
                guard let again = try? MultipartReader.read(body + Array("--b--".utf8), boundary: "b", partsMax: 20) else {
                    return "it cannot be read again"
                }
                let isSame = again.fields == form.fields && again.files.map(\.bytes) == form.files.map(\.bytes)
                return isSame ? nil : "it means something else when it is written"
            }
            #expect(complaint == nil)
        }
    }
}
