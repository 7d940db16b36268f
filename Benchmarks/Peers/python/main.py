"""The peer of addNumbers on the Firebase Functions SDK for Python, served by its functions-framework."""

from firebase_functions import https_fn


@https_fn.on_call()
def addNumbers(request: https_fn.CallableRequest) -> dict:
    first, second = request.data["firstNumber"], request.data["secondNumber"]
    if not isinstance(first, (int, float)) or not isinstance(second, (int, float)):
        raise https_fn.HttpsError(https_fn.FunctionsErrorCode.INVALID_ARGUMENT, "two numbers are needed")
    return {"firstNumber": first, "secondNumber": second, "operator": "+", "operationResult": first + second}
