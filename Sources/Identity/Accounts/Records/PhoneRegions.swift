public import HearthJSON

/// The regions to whose phone numbers text messages are sent: `smsRegionConfig` of a configuration.
public enum MessageRegions: Sendable, Equatable {
    case all
    /// All but these.
    case except(Set<String>)
    case only(Set<String>)

    /// Reads the setting; ``all`` if there is none.
    public init(_ document: JSONValue?) {
        func regions(_ list: JSONValue?) -> Set<String> { Set((list?.array ?? []).compactMap { $0.string?.uppercased() }) }
        if let list = document?["allowlistOnly"] {
            self = .only(regions(list["allowedRegions"]))
        } else if let list = document?["allowByDefault"] {
            self = .except(regions(list["disallowedRegions"]))
        } else {
            self = .all
        }
    }

    /// Whether a message may be sent to a number. A number of no region, such as one of a satellite network, is none of a list.
    public func allows(_ phone: String) -> Bool {
        switch self {
        case .all: true
        case .except(let list): PhoneRegion.of(phone).map { !list.contains($0) } ?? true
        case .only(let list): PhoneRegion.of(phone).map { list.contains($0) } ?? false
        }
    }
}

/// The regions of phone numbers (ITU-T E.164), by their two letters (ISO 3166-1).
enum PhoneRegion {
    /// The region of a number: that of its longest known prefix. Nil if it has none.
    ///
    /// Regions that share all prefixes are one: the islands around Guadeloupe count as `GP`.
    static func of(_ phone: String) -> String? {
        let digits = phone.utf8.filter { (UInt8(ascii: "0")...UInt8(ascii: "9")).contains($0) }.prefix(prefixDigitsMax)
        for length in stride(from: digits.count, to: 0, by: -1) {
            if let found = prefixes[String(decoding: digits.prefix(length), as: UTF8.self)] { return found }
        }
        return nil
    }

    private static let prefixDigitsMax = 7

    private static let prefixes: [String: String] = {
        var found: [String: String] = [:]
        for line in table.split(separator: "\n") {
            let words = line.split(separator: " ")
            for word in words.dropFirst() { found[String(word)] = String(words[0]) }
        }
        return found
    }()

    /// A region and its prefixes in each line.
    private static let table = """
        US 1
        CA 1204 1226 1236 1249 1250 1257 1263 1289 1306 1343 1354 1365 1367 1368 1382 1403 1416 1418 1428 1431 1437 1438 1450 1460 1468 1474
        CA 1506 1514 1519 1537 1548 1568 1579 1581 1584 1587 1600 1604 1613 1639 1647 1672 1683 1705 1709 1742 1753 1778 1780 1782 1807 1819
        CA 1825 1851 1867 1873 1879 1902 1905 1942
        AG 1268
        AI 1264
        AS 1684
        BB 1246
        BM 1441
        BS 1242
        DM 1767
        DO 1809 1829 1849
        GD 1473
        GU 1671
        JM 1876 1658
        KN 1869
        KY 1345
        LC 1758
        MP 1670
        MS 1664
        PR 1787 1939
        SX 1721
        TC 1649
        TT 1868
        VC 1784
        VG 1284
        VI 1340
        RU 7
        KZ 76 77
        EG 20
        ZA 27
        GR 30
        NL 31
        BE 32
        FR 33
        ES 34
        HU 36
        IT 39
        VA 3906698
        RO 40
        CH 41
        AT 43
        GB 44
        GG 441481 447781 447839 447911
        JE 441534 447509 447797 447829 447937
        IM 441624 447524 447624 447924
        DK 45
        SE 46
        NO 47
        SJ 4779
        PL 48
        DE 49
        PE 51
        MX 52
        CU 53
        AR 54
        BR 55
        CL 56
        CO 57
        VE 58
        MY 60
        AU 61
        CC 6189162
        CX 6189164
        ID 62
        PH 63
        NZ 64
        SG 65
        TH 66
        JP 81
        KR 82
        VN 84
        CN 86
        TR 90
        IN 91
        PK 92
        AF 93
        LK 94
        MM 95
        IR 98
        SS 211
        MA 212
        EH 2125288 2125289
        DZ 213
        TN 216
        LY 218
        GM 220
        SN 221
        MR 222
        ML 223
        GN 224
        CI 225
        BF 226
        NE 227
        TG 228
        BJ 229
        MU 230
        LR 231
        SL 232
        GH 233
        NG 234
        TD 235
        CF 236
        CM 237
        CV 238
        ST 239
        GQ 240
        GA 241
        CG 242
        CD 243
        AO 244
        GW 245
        IO 246
        AC 247
        SC 248
        SD 249
        RW 250
        ET 251
        SO 252
        DJ 253
        KE 254
        TZ 255
        UG 256
        BI 257
        MZ 258
        ZM 260
        MG 261
        RE 262
        YT 262269 262639
        ZW 263
        NA 264
        MW 265
        LS 266
        BW 267
        SZ 268
        KM 269
        SH 290
        TA 2908
        ER 291
        AW 297
        FO 298
        GL 299
        GI 350
        PT 351
        LU 352
        IE 353
        IS 354
        AL 355
        MT 356
        CY 357
        FI 358
        AX 35818
        BG 359
        LT 370
        LV 371
        EE 372
        MD 373
        AM 374
        BY 375
        AD 376
        MC 377
        SM 378
        UA 380
        RS 381
        ME 382
        XK 383
        HR 385
        SI 386
        BA 387
        MK 389
        CZ 420
        SK 421
        LI 423
        FK 500
        BZ 501
        GT 502
        SV 503
        HN 504
        NI 505
        CR 506
        PA 507
        PM 508
        HT 509
        GP 590
        BO 591
        GY 592
        EC 593
        GF 594
        PY 595
        MQ 596
        SR 597
        UY 598
        BQ 599
        CW 5999
        TL 670
        NF 672
        AQ 6721
        BN 673
        NR 674
        PG 675
        TO 676
        SB 677
        VU 678
        FJ 679
        PW 680
        WF 681
        CK 682
        NU 683
        WS 685
        KI 686
        NC 687
        TV 688
        PF 689
        TK 690
        FM 691
        MH 692
        KP 850
        HK 852
        MO 853
        KH 855
        LA 856
        BD 880
        TW 886
        MV 960
        LB 961
        JO 962
        SY 963
        IQ 964
        KW 965
        SA 966
        YE 967
        OM 968
        PS 970
        AE 971
        IL 972
        BH 973
        QA 974
        BT 975
        MN 976
        NP 977
        TJ 992
        TM 993
        AZ 994
        GE 995
        KG 996
        UZ 998
        """
}
