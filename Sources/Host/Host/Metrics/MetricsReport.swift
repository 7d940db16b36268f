import Accounts
import DatabaseAPI
import EventDelivery
import EventLoop
import FunctionDispatch
import FunctionServices
import HTTP
import Logs
import Metrics
import RealtimeDatabase
import Schedules

/// Writes the report. `docs/metrics.md` lists the same families, which a test checks.
struct MetricsReport {
    private let figures: MetricsGatherer
    /// The sum of the figures of open and closed databases.
    private let databases: TotalFigures

    init(_ figures: MetricsGatherer) {
        self.figures = figures
        var databases = figures.closedDatabases
        for figures in figures.writers.values { databases.writer.merge(figures) }
        for figures in figures.readers.values { databases.reader.merge(figures) }
        self.databases = databases
    }

    func text() -> [UInt8] {
        var text = MetricsText()
        writeFunctions(to: &text)
        writeInstances(to: &text)
        writeRequests(to: &text)
        writeMemory(to: &text)
        writeLogs(to: &text)
        writeDatabase(to: &text)
        writeLive(to: &text)
        writeOutbox(to: &text)
        writeSchedules(figures.schedules.figures, to: &text)
        writeCache(figures.cache.figures, to: &text)
        writeMessaging(figures.messaging, to: &text)
        writeProcess(to: &text)
        return text.finish()
    }

    // MARK: Functions

    private func writeFunctions(to text: inout MetricsText) {
        let functions = figures.dispatcher.figures.all.map { function in
            (labels: [("function", function.function), ("version", "\(function.version)")] as [MetricsText.Label], counts: function.total)
        }
        text.begin(
            "hearth_function_invocations_total", .counter,
            "Finished invocations, by the code of their answer: of the callable protocol, or the class of an HTTP status.")
        for function in functions {
            for outcome in InvocationOutcome.all where outcome.isAlwaysTold || function.counts.count(outcome) > 0 {
                text.sample(function.labels + [("code", outcome.name)], function.counts.count(outcome))
            }
        }
        text.begin("hearth_function_invocations_in_flight", .gauge, "Unfinished invocations, including those that wait for an instance.")
        for function in functions { text.sample(function.labels, function.counts.inFlight) }
        text.begin("hearth_function_duration_seconds", .histogram, "From an invocation's admission to its end, including its wait.")
        for function in functions { text.sample(function.labels, function.counts.durations) }
        text.begin("hearth_function_queue_wait_seconds", .histogram, "How long invocations waited for an instance; most do not wait at all.")
        for function in functions { text.sample(function.labels, function.counts.allWaits) }
        text.begin(
            "hearth_function_cold_start_seconds", .histogram, "The waiting time of invocations for which no instance was ready.")
        for function in functions { text.sample(function.labels, function.counts.coldStarts) }
    }

    private func writeInstances(to text: inout MetricsText) {
        let pools = figures.dispatcher.poolFigures
        text.begin("hearth_instances", .gauge, "Instances of an artifact by state. Functions of one plugin may share instances.")
        for pool in pools {
            for (state, count) in [("starting", pool.starting), ("idle", pool.idle), ("busy", pool.busy), ("draining", pool.draining)] {
                text.sample([("plugin", pool.plugin), ("artifact", pool.artifact), ("state", state)], count)
            }
        }
        text.begin("hearth_queue_length", .gauge, "Invocations that wait for an instance of an artifact.")
        for pool in pools { text.sample([("plugin", pool.plugin), ("artifact", pool.artifact)], pool.waiting) }
        let plugins = figures.dispatcher.pluginFigures
        text.begin("hearth_instance_start_seconds", .histogram, "From the request for an instance until its plugin is loaded.")
        for plugin in plugins { text.sample([("plugin", plugin.plugin)], plugin.starts) }
        text.begin(
            "hearth_instance_ends_total", .counter, "Instances that have ended: on request, or by a crash, a kill, or a plugin that does not load.")
        for plugin in plugins {
            text.sample([("plugin", plugin.plugin), ("reason", "told")], plugin.ends)
            text.sample([("plugin", plugin.plugin), ("reason", "crashed")], plugin.crashes)
        }
    }

    // MARK: Requests and lines

    private func writeRequests(to text: inout MetricsText) {
        let loops = figures.loops
        text.begin("hearth_http_requests_total", .counter, "Requests of every kind that were answered, by the class of the status.")
        for digit in 1...5 {
            text.sample([("code", "\(digit)xx")], loops.reduce(0) { $0 + $1.server.answers(ofClass: digit) })
        }
        text.number(
            "hearth_http_connections_total", .counter, loops.reduce(0) { $0 + $1.server.connectionsAccepted },
            "Accepted connections, including refused ones.")
        text.number("hearth_http_connections_open", .gauge, loops.reduce(0) { $0 + $1.connectionsOpen }, "Connections that are open.")
        writeHTTP2(loops.map(\.http2), to: &text)
        text.begin("hearth_loop_lag_seconds", .gauge, "How long a message waited for an event loop just now.")
        for (index, loop) in loops.enumerated() { text.sample([("loop", "\(index)")], Double(loop.lagNanoseconds) / 1_000_000_000) }
        text.number(
            "hearth_scrape_missing_parts", .gauge, figures.missingCount,
            "Parts of these figures that did not arrive in time and are older than the others.")
    }

    private func writeHTTP2(_ loops: [HTTP2Figures], to text: inout MetricsText) {
        func sum(_ figure: (HTTP2Figures) -> Int) -> Int { loops.reduce(0) { $0 + figure($1) } }
        text.number("hearth_http2_connections_total", .counter, sum(\.connections), "Connections that have spoken HTTP/2.")
        text.number("hearth_http2_connections_open", .gauge, sum(\.connectionsOpen), "Those that are open.")
        text.number("hearth_http2_streams_total", .counter, sum(\.streams), "Requests of HTTP/2, including refused ones.")
        text.number("hearth_http2_streams_open", .gauge, sum(\.streamsOpen), "Requests of HTTP/2 that are not finished.")
        text.begin(
            "hearth_http2_resets_total", .counter, "Requests of HTTP/2 that ended early: cancelled by the client, or by a fault of the protocol.")
        text.sample([("by", "client")], sum(\.resetsByClients))
        text.sample([("by", "host")], sum(\.resetsByServer))
        text.begin("hearth_http2_goaways_total", .counter, "Connections whose end the host has announced, by reason.")
        for ending in HTTP2Figures.Ending.allCases { text.sample([("reason", ending.rawValue)], sum { $0.count(of: ending) }) }
    }

    private func writeMemory(to text: inout MetricsText) {
        let parts = figures.memory.parts
        text.begin("hearth_memory_held_bytes", .gauge, "Memory that the host holds for clients and plugins, by purpose.")
        for part in parts { text.sample([("for", part.name)], part.bytes) }
        text.begin("hearth_memory_limit_bytes", .gauge, "Its limit (server.memoryBytes).")
        for part in parts { text.sample([("for", part.name)], part.bytesMax) }
        text.begin("hearth_memory_refusals_total", .counter, "How often memory was exhausted: a request was refused, or had to wait.")
        for part in parts { text.sample([("for", part.name)], part.refusals) }
    }

    private func writeLogs(to text: inout MetricsText) {
        let logs = figures.output.figures
        let store = figures.output.store?.figures ?? LogStore.Figures()
        text.number("hearth_log_lines_total", .counter, logs.lines, "Lines that the host and its functions have logged.")
        text.begin(
            "hearth_log_lines_dropped_total", .counter, "Lines that were not written, by destination: the reader was too slow, or the disk full.")
        text.sample([("where", "output")], logs.droppedByOutput)
        text.sample([("where", "store")], store.dropped)
        text.number(
            "hearth_log_limited_bytes_total", .counter, logs.limitedBytes,
            "Bytes that functions logged beyond workers.logBytesPerSecond, and that were dropped.")
        text.number("hearth_log_stored_bytes", .gauge, store.bytes, "Size of the stored lines on the disk.")
        text.number("hearth_log_followers", .gauge, store.followers, "Readers that follow the log.")
    }

    // MARK: The database

    private func writeDatabase(to text: inout MetricsText) {
        let (writer, reader) = (databases.writer, databases.reader)
        text.begin("hearth_database_writes_total", .counter, "Writes by operation and outcome.")
        for operation in WriterFigures.Operation.allCases {
            for outcome in WriterFigures.Outcome.allCases {
                text.sample([("operation", "\(operation)"), ("outcome", "\(outcome)")], writer.count(operation, outcome))
            }
        }
        text.begin("hearth_database_reads_total", .counter, "Reads by operation and outcome.")
        for kind in ReaderFigures.Kind.allCases {
            for outcome in ReaderFigures.Outcome.allCases {
                text.sample([("operation", "\(kind)"), ("outcome", "\(outcome)")], reader.count(kind, outcome))
            }
        }
        text.number("hearth_database_read_bytes_total", .counter, reader.bytes, "Bytes of JSON that reads returned.")
        text.begin("hearth_database_commit_seconds", .histogram, "How long transactions took to become durable.")
        text.sample([], writer.commits)
        text.begin("hearth_database_commit_writes", .histogram, "Writes per transaction; internal transactions have none.")
        text.sample([], writer.batches)
        text.number("hearth_database_namespaces_open", .gauge, figures.writers.count, "Databases that are open.")
        text.number("hearth_database_listeners", .gauge, writer.listeners, "Event streams and other listeners for changes.")
        text.number("hearth_database_stored_bytes", .gauge, writer.storedBytes, "Size of the open databases on the disk.")
    }

    private func writeLive(to text: inout MetricsText) {
        let live = figures.loops.reduce(LiveFigures()) { $0 + $1.live }
        text.begin("hearth_live_connections", .gauge, "Open live connections of clients, by transport.")
        text.sample([("transport", "websocket")], live.sockets)
        text.sample([("transport", "polling")], live.polls)
        text.number("hearth_live_listens", .gauge, live.listens, "Open listens of live connections.")
        text.number("hearth_live_presences", .gauge, live.presences, "Live connections that have sent onDisconnect operations.")
        text.number(
            "hearth_live_mistakes_total", .counter, live.mistakes,
            "Live connections that were ended because the client has violated the protocol.")
    }

    private func writeOutbox(to text: inout MetricsText) {
        let delivery = figures.delivery.figures
        let (users, runs) = (figures.userEvents.counts, figures.schedules.outboxCounts)
        text.number(
            "hearth_outbox_events_waiting", .gauge, databases.writer.waitingEvents + users.waiting + runs.waiting,
            "Events that are not processed yet.")
        text.number(
            "hearth_outbox_dead_letters_kept", .gauge, databases.writer.deadLetters + users.deadLetters + runs.deadLetters,
            "Dead letters that are kept.")
        text.begin("hearth_outbox_deliveries_total", .counter, "Attempts to process events, by outcome.")
        for outcome in DeliveryFigures.Outcome.allCases { text.sample([("outcome", "\(outcome)")], delivery.count(outcome)) }
        text.number("hearth_outbox_retries_total", .counter, delivery.retries, "Failed attempts that are retried.")
        text.begin("hearth_outbox_dead_letters_total", .counter, "Events that became dead letters, by reason.")
        for reason in DeadLetter.Reason.allCases { text.sample([("reason", "\(reason)")], delivery.count(reason)) }
        text.number(
            "hearth_outbox_dead_letters_dropped_total", .counter, delivery.droppedDeadLetters,
            "Dead letters that were dropped for newer ones.")
    }

    // MARK: The process

    private func writeProcess(to text: inout MetricsText) {
        let process = figures.process
        text.number(
            "process_cpu_seconds_total", .counter, process.cpuSeconds,
            "Processor time of the host, without its instances.")
        text.number("process_resident_memory_bytes", .gauge, process.residentBytes, "Resident memory of the host.")
        text.number("process_virtual_memory_bytes", .gauge, process.virtualBytes, "Virtual memory of the host.")
        text.number("process_open_fds", .gauge, process.openFiles, "Open files and sockets of the host.")
        text.number("process_max_fds", .gauge, process.openFilesMax, "The most files and sockets that the host may have open.")
        text.number("process_threads", .gauge, process.threads, "Threads of the host.")
        text.number("process_start_time_seconds", .gauge, process.startSeconds, "When the host was started, in seconds since 1970.")
    }
}
