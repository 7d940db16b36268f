import HearthFunctions

/// Two functions that need nothing but their data.
let functions = Functions {
    OnCall("addNumbers") { (request: CallableRequest<Numbers>) in
        let (first, second) = (request.data.firstNumber, request.data.secondNumber)
        return Sum(firstNumber: first, secondNumber: second, operationResult: first + second)
    }
    OnCall("divideNumbers") { (request: CallableRequest<Division>) in
        let (dividend, divisor) = (request.data.dividend, request.data.divisor)
        guard divisor != 0 else { throw HttpsError(.invalidArgument, "divisor must not be zero") }
        return Quotient(dividend: dividend, divisor: divisor, quotient: dividend / divisor)
    }
    OnRequest("status") { _ in Response(json: ["ok": true]) }
}

struct Numbers: Decodable {
    var firstNumber: Double
    var secondNumber: Double
}

struct Sum: Encodable {
    var firstNumber: Double
    var secondNumber: Double
    var `operator` = "+"
    var operationResult: Double
}

struct Division: Decodable {
    var dividend: Double
    var divisor: Double
}

struct Quotient: Encodable {
    var dividend: Double
    var divisor: Double
    var quotient: Double
}
