import CHearth

@testable import HearthFunctions

/// The functions of `hearth.h`, noted down by the fake host that the table belongs to.
func fakeTable(_ version: UInt32, _ size: Int) -> hearth_host {
    hearth_host(
        abi_major: version, abi_minor: 0, size: size,
        respond: { table, id, answer in
            let host = fake(table), answer = answer!.pointee
            host.answers[id, default: []].append(
                FakeHost.Answer(kind: answer.kind.rawValue, head: text(answer.head), body: text(answer.body)))
            host.onRespond?(id)
        },
        start_response: { table, id, head in
            fake(table).heads[id] = text(head)
            return HEARTH_CONTINUE
        },
        send_chunk: { table, id, chunk in
            let host = fake(table)
            let number = host.chunks[id, default: []].count
            let flow = number >= host.flowAfter.chunks ? host.flowAfter.flow : HEARTH_CONTINUE
            if flow != HEARTH_GONE { host.chunks[id, default: []].append(text(chunk)) }
            return flow
        },
        call_service: { table, id, call, completion, context in
            let host = fake(table), call = call!.pointee
            host.serviceCalls.append("\(id) \(text(call.service)).\(text(call.method)) \(text(call.payload))")
            host.serve {
                let answer = host.serviceAnswers.isEmpty ? host.serviceAnswer : host.serviceAnswers.removeFirst()
                Array(answer.body.utf8).withUnsafeBytes {
                    completion!(context, answer.isOK ? 1 : 0, hearth_bytes(data: $0.baseAddress, size: $0.count))
                }
            }
        },
        schedule: { table, _, job, context in fake(table).schedule(after: 0) { job!(context) } },
        schedule_after: { table, _, delay, job, context in fake(table).schedule(after: delay) { job!(context) } },
        log: { table, id, level, message, fields in
            fake(table).lines.append(
                FakeHost.Line(invocation: id, level: level.rawValue, message: text(message), fields: text(fields)))
        })
}

private func fake(_ table: UnsafePointer<hearth_host>?) -> FakeHost {
    let own = (UnsafeRawPointer(table!) + MemoryLayout<hearth_host>.stride).load(as: UnsafeRawPointer.self)
    return Unmanaged<FakeHost>.fromOpaque(own).takeUnretainedValue()
}

private func text(_ bytes: hearth_bytes) -> String {
    String(decoding: UnsafeRawBufferPointer(start: bytes.data, count: bytes.size), as: UTF8.self)
}
