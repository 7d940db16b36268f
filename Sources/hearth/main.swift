import ArgumentParser
import FunctionWorker

// A worker starts thousands of times as often as anything else: it does not wait for arguments to be parsed.
if CommandLine.arguments.count == 2, CommandLine.arguments[1] == "worker" {
    WorkerProcess.main()
}
HearthCommand.main()
