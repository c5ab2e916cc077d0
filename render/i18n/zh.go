package i18n

import (
	"fmt"
	"strconv"
	"strings"

	"pairbench/render/numfmt"
)

func chinese() *Words {
	return &Words{
		Tag: SimplifiedChinese, Language: "简体中文", ListComma: "、", Colon: "：", Space: "",
		Names: Names{
			Metric: named(map[string]string{
				"run_time": "运行时间", "throughput": "吞吐量", "cpu": "CPU 占用", "latency_p50": "P50 响应时间", "latency_p90": "P90 响应时间",
				"response_p50": "P50 响应时间", "response_p99": "P99 响应时间",
				"latency_p99": "P99 响应时间", "latency_p999": "P99.9 响应时间", "latency_max": "最大响应时间",
				"peak_rss": "进程峰值 RSS", "cpu_efficiency": "CPU 效率",
			}),
			Unit: func(u numfmt.Unit) string {
				switch u {
				case numfmt.UnitRoundTrips:
					return "次往返/s"
				case numfmt.UnitUs:
					return "µs"
				default:
					return string(u)
				}
			},
			Factor: named(map[string]string{
				"payload_bytes": "消息体", "cadence": "更新间隔", "connections": "连接", "outstanding": "在途",
				"work": "计算迭代", "in_flight": "在途", "threads": "线程", "batch": "每批命令",
				"arrival": "到达方式", "rate_per_sec": "每秒请求数",
			}),
			Cadence: func(v string) (string, bool) {
				if v == "continuous" {
					return "连续", true
				}
				return numfmt.Duration(v)
			},
			Outcome: named(map[string]string{
				"ok": "正常", "exit_nonzero": "退出码非零", "signalled": "被信号终止", "timeout": "超时",
				"start_failed": "未能启动", "protocol_error": "违反驱动协议", "operation_errors": "请求失败",
				"invalid_result": "结果自相矛盾", "leftover": "遗留子进程", "interrupted": "被中断",
			}),
			Order: named(map[string]string{
				"alternate": "交替进行，先 AB 后 BA", "shuffle": "随机排列，种子已记录", "sequential": "先测一组，再测另一组", "imported": "与导入文件中的次序相同",
			}),
			Fact: named(map[string]string{
				"cpu.model": "处理器", "cpu.logical": "逻辑处理器", "cpu.cores": "核心", "cpu.governor": "调频策略",
				"cpu.turbo": "睿频", "memory.total_bytes": "内存", "memory.thp": "透明大页", "os.name": "操作系统",
				"kernel.release": "内核", "kernel.aslr": "地址随机化", "clock.source": "时钟源",
				"calibration.clock_read_ns": "一次读时钟", "calibration.sample_record_ns": "记录一个样本",
				"calibration.sample_record_allocs":       "每个样本的内存分配次数",
				"calibration.empty_request_callback_ns":  "一次不含 IO 的回调请求",
				"calibration.empty_request_coroutine_ns": "一次不含 IO 的协程请求",
			}),
			CPUCovers:     named(map[string]string{"client": "仅客户端", "client_and_server": "客户端与服务端合计"}),
			CPUScope:      named(map[string]string{"interval": "测量区间内", "process": "整个进程，含预热", "run": "整个运行过程，从启动到结束"}),
			LatencyCovers: named(map[string]string{"request": "单个请求，从提交到交付", "message": "单条消息；多条在途时为整批", "batch": "整批"}),
			RSSSource: named(map[string]string{
				"vmhwm_at_done": "VmHWM，驱动完成时读取", "vmhwm_ptrace_exit": "VmHWM，退出事件时读取",
				"rusage_launcher": "rusage，经小型启动器", "rusage_darwin": "rusage（macOS）", "stated": "以来源所述为准",
			}),
			ServiceMode: named(map[string]string{"managed": "为本研究启动", "embedded": "pairbench 自带服务", "external": "此前已在运行"}),
			Disturbance: named(map[string]string{"steal": "虚拟机监控器占用的时间", "throttled": "控制组限额", "cpu_pressure": "等待处理器"}),
			Reason: named(map[string]string{"arm_missing": "缺少一组", "median_a_zero": "A 的中位数为零", "one_process": "仅一个进程",
				"not_paired": "两组未成对", "not_positive": "有值不大于零", "no_variation": "各轮完全一致"}),
			Inference: named(map[string]string{
				"range_ratio": "比值范围", "mann_whitney": "Mann-Whitney 检验", "hodges_lehmann": "Hodges-Lehmann 位移", "signed_rank": "符号秩检验",
				"median_rank_interval": "中位数的秩区间", "paired_t_log": "对数配对 t", "bootstrap_two_level": "两级自助法",
			}),
			Circumstance: named(map[string]string{"host": "主机不同", "plan": "计划不同", "services": "服务不同"}),
			Yes:          "是", No: "否", Inside: "之内", Outside: "之外", Complete: "完整", Incomplete: "不完整", Absent: "未记录",
			NotComputable: "无法计算", Median: "中位数", Other: "未知",
		},
		Headings: Headings{
			Findings: "结论", Compared: "比较内容", Reading: "如何阅读这些数字", Scope: "测量环境",
			Counts: "固定次数", Evidence: "证据", Limits: "局限", Processes: "进程", Failures: "未计入的进程",
			Notes: "存疑之处", Changes: "变化", Results: "结果", Charts: "图表", Distribution: "各进程的响应时间分布",
			History: "历次测量", Order: "执行顺序", Position: "对内顺序的影响", Latency: "响应时间", ThroughputAndCPU: "吞吐量与 CPU", Inference: "区间与检验", Inputs: "已计算哈希的输入",
		},
		Columns: Columns{
			Suite: "套件", Cell: "单元", Metric: "指标", Change: "变化", Overlap: "范围重叠", LowestChange: "最低变化",
			HighestChange: "最高变化", MedianChange: "变化的中位数", Configuration: "配置", NotComputable: "无法计算",
			DisjointByChance: "偶然不重叠", Panel: "分组", ConnectionsOutstanding: "连接／在途",
			Process: "进程", Arm: "组", Round: "轮次", Slot: "次序", First: "对内顺序", Started: "启动时刻（UTC）", Outcome: "结局", Exit: "退出",
			Operations: "操作数", Elapsed: "区间（s）", Samples: "样本数", Output: "输出", SampleFile: "样本文件", Detail: "说明",
			Stdout: "标准输出", Stderr: "标准错误", Hash: "SHA-256", Bytes: "字节", Fact: "项目", Value: "值", Source: "来源",
			MeasuredPerProcess: "每进程测量次数", WarmupPerProcess: "每进程预热次数", Cells: "单元数", Processes: "进程数",
			Bundle: "数据包", Identity: "标识", Lock: "哈希锁", Interval: "时段（UTC）", Gaps: "缺口", Kind: "类别", Name: "名称", Side: "组",
			Method: "方法", Estimate: "估计", Interval95: "区间", Level: "实际水平", P: "p", PAdjusted: "校正 p",
			EfficiencyChange: "效率变化", Floor: "A/A 范围",
		},
		Sentences: Sentences{
			Question: func(a, b string) string {
				return fmt.Sprintf("用%s代替%s，会改变什么？", spaced(b), strings.TrimRight(spaced(a), " "))
			},
			QuestionAA: "在本主机上，同一程序的两个标签会相差多少？",
			Overview: func(suites, cells, processes int, perArm string) string {
				return fmt.Sprintf("共 %s 个套件、%s 个单元、%s 个进程：每个单元中两组各运行%s次，每次都是全新的进程。",
					numfmt.Count(int64(suites)), numfmt.Count(int64(cells)), numfmt.Count(int64(processes)), perArm)
			},
			OverviewImported: func(suites, cells, processes int, perArm string) string {
				return fmt.Sprintf("共 %s 个套件、%s 个单元、%s 个进程，取自文件：每个单元每组%s个进程。运行方式取决于来源。",
					numfmt.Count(int64(suites)), numfmt.Count(int64(cells)), numfmt.Count(int64(processes)), perArm)
			},
			SuiteChange: func(metric, changes, overlap string) string {
				if overlap == noneComparable {
					return fmt.Sprintf("%s变化为 %s；没有可以比较范围的单元。", metric, changes)
				}
				return fmt.Sprintf("%s变化为 %s；%s 个单元的两组范围重叠。", metric, changes, overlap)
			},
			SuiteChangeAA: func(metric, changes, overlap string) string {
				if overlap == noneComparable {
					return fmt.Sprintf("%s在两个标签之间相差 %s；没有可以比较范围的单元。", metric, changes)
				}
				return fmt.Sprintf("%s在两个标签之间相差 %s；%s 个单元的两组范围重叠。", metric, changes, overlap)
			},
			ArmAA:        func(arm, side string) string { return arm + "（" + side + "）" },
			NoChange:     func(metric string) string { return metric + "：没有可以计算的变化。" },
			MedianChange: func(change string) string { return "各单元变化的中位数为 " + change + "。" },
			NotComputable: func(n int) string {
				return fmt.Sprintf("%s 个单元无法比较，未计入。", numfmt.Count(int64(n)))
			},
			Chance: func(disjoint, comparable int, expected string) string {
				return fmt.Sprintf("%s 个单元中有 %s 个的范围不重叠；即使两组完全相同，仅凭偶然也会出现约 %s 个。",
					numfmt.Count(int64(comparable)), numfmt.Count(int64(disjoint)), expected)
			},
			NoSignificance: "差异的大小因配置而异。本报告不声称统计显著性：每组只有少量进程，不足以支持这样的结论；范围不重叠也不等于检验。",
			LargestFall: func(metric, change, cell string) string {
				return fmt.Sprintf("%s降幅最大的是 %s（%s）。", metric, cell, change)
			},
			LargestRise: func(metric, change, cell string) string {
				return fmt.Sprintf("%s升幅最大的是 %s（%s）。", metric, cell, change)
			},
			AllOverlap: func(metric, overlap string) string {
				return fmt.Sprintf("%s：%s 个配置的范围重叠。", metric, overlap)
			},
			Alternation: func(order, rounds string) string {
				return fmt.Sprintf("每个单元的两组在同一主机上相邻运行%s轮，顺序为：%s。", rounds, order)
			},
			RangeMeaning: func(perArm string) string {
				if perArm == "一" {
					return "每组只有一个进程，因此没有范围。"
				}
				return fmt.Sprintf("方括号内是每组%s个进程中的最小值与最大值；这是范围，不是置信区间。", perArm)
			},
			Totals: func(processes, operations, warmup, samples string) string {
				text := fmt.Sprintf("共 %s 个进程：", processes)
				if operations != "" {
					text += fmt.Sprintf("测量操作 %s 次，", operations)
				}
				if warmup != "" {
					text += fmt.Sprintf("预热操作 %s 次，", warmup)
				}
				return text + fmt.Sprintf("原始样本 %s 个。", samples)
			},
			Intervals: func(shortest, longest, under, total string) string {
				return fmt.Sprintf("测量区间为 %s s 至 %s s；%s 个中有 %s 个短于一秒。", shortest, longest, total, under)
			},
			OutsideIntervals: "构造、连接与预热均不在区间之内。",
			Errors: func(errors string, failed int) string {
				text := fmt.Sprintf("失败进程 %s 个。", numfmt.Count(int64(failed)))
				if errors != "" {
					text = fmt.Sprintf("请求错误 %s 个，", errors) + text
				}
				return text
			},
			AllChecked:      "每个进程的输出、退出码、标准错误与次数都经过检查，之后其数字才被采用。",
			ImportedChecked: "导入的文件已完整读取，去除机密后连同哈希存于数据包；来源做过哪些检查，此处不得而知。",
			FailedExcluded: func(n int) string {
				return fmt.Sprintf("%s 个进程失败，不计入任何中位数；下文逐一列出原因。", numfmt.Count(int64(n)))
			},
			AA: "两组特意运行同一程序：下列差异全部来自本主机与本方法的噪声。",
			Imported: func(format string) string {
				return fmt.Sprintf("进程数据为导入所得（%s），并非在此运行；没有原始样本。", format)
			},
			ImportedStated: func(format string) string {
				return fmt.Sprintf("进程数据为导入所得（%s），并非在此运行；没有原始样本，百分位数以来源所述为准。", format)
			},
			ImportedSamples: func(format, samples string) string {
				return fmt.Sprintf("进程数据为导入所得（%s），并非在此运行；文件含原始样本 %s 个，百分位数由其计算。", format, samples)
			},
			ArmRevision: func(arm, revision string) string { return fmt.Sprintf("%s由版本 %s 构建。", arm, revision) },
			Caption: func(metric, unit, better string) string {
				if unit == "" {
					return metric + "（" + better + "）"
				}
				return metric + "，单位 " + unit + "（" + better + "）"
			},
			CellsHave: func(perArm string) string {
				if perArm == "一" {
					return "每组一个进程，另注 n 者除外。"
				}
				return fmt.Sprintf("每组%s个进程的中位数 [最小值–最大值]，另注 n 者除外。", perArm)
			},
			Signal:        func(number string) string { return "信号 " + number },
			NUnusual:      func(n int) string { return "n = " + strconv.Itoa(n) },
			MoreOutput:    func(bytes string) string { return "仅开头部分，共 " + bytes },
			NoOutput:      "空",
			NoSamples:     "无原始样本",
			BetterHigher:  "越高越好",
			BetterLower:   "越低越好",
			BetterNeither: "高低本身无优劣",
			ChartBars: func(metric, unit, axis string) string {
				return fmt.Sprintf("%s，单位 %s。柱高为中位数，须线从最小进程到最大进程，各图纵轴独立且从零开始。每对柱上方为其中位数的变化。横轴：%s。", metric, unit, axis)
			},
			ChartECDF: "响应时间不超过横轴（对数）所示值的请求所占比例；每条线为一个进程。",
			ChartOrder: func(metric string) string {
				return "按执行次序排列的各进程" + metric + "，以其所在单元与组的中位数为 100%。倾斜或台阶说明主机发生了漂移，而非某一组的差异。"
			},
			ChartOrderImported: func(metric string) string {
				return "按导入文件中的次序排列的各进程" + metric + "，以其所在单元与组的中位数为 100%。该次序未必是运行的次序。"
			},
			ChartHistory: func(metric string) string {
				return "各次测量的" + metric + "，由旧到新。点为中位数，须线从最小进程到最大进程，纵轴未必从零开始。虚线两侧不可比较，所不同者注于上方。"
			},
			Floor: func(differences string, cells, inside, changes int) string {
				return fmt.Sprintf("相同的两组在 %s 个单元中相差 %s（不分先后）；本次 %s 个变化中有 %s 个落在此范围内。",
					numfmt.Count(int64(cells)), differences, numfmt.Count(int64(changes)), numfmt.Count(int64(inside)))
			},
			NeedN:      func(n int) string { return fmt.Sprintf("每组至少需要 %d 个进程", n) },
			ModelBased: "依赖分布假设",
			ServiceLine: func(name, version, mode, address string) string {
				line := name
				if version != "" {
					line += " " + version
				}
				if mode != "" {
					line += "，" + mode
				}
				if address != "" {
					line += "，" + address
				}
				return line
			},
			Verify:       "用 pairbench 检查数据包；不用它也可以：",
			VerifyByHand: "数据包的标识是其标签清单的 SHA-256，该清单以哈希记录了其余每个文件。",
			LockCovers:   "哈希锁涵盖所运行的程序、其加载的共享库、构建设置与源码状态，在第一个进程之前与最后一个进程之后各计算一次。它不涵盖内核、固件，也不涵盖服务在研究之前的经历。",
			LockComplete: "哈希锁完整：所运行的一切均有哈希。",
			LockIncomplete: func(gaps int) string {
				return fmt.Sprintf("哈希锁不完整：%s 处缺口。", numfmt.Count(int64(gaps)))
			},
			Tool:        func(version string) string { return "pairbench " + version },
			FirstOfPair: "先", SecondOfPair: "后",
			ProcessesIntro: "各表背后的每个进程，按单元列出，单元内按执行次序排列。",
			GroupRest:      "全部单元",
		},
		Method: Method{
			Median:            "每个单元对每一组给出各进程的中位数以及最小值与最大值。进程数为偶数时，中位数取中间两值的平均。",
			Change:            "变化 =（B 的中位数 / A 的中位数 − 1）× 100，由未舍入的值计算。A 为零或缺少一组时没有变化，该单元不计入汇总。",
			Overlap:           "两组范围至少共有一个值即为重叠，端点相接也算。每组只有一个进程时没有可比较的范围。",
			Percentile:        "P50 与 P99 是每个进程对其自身全部请求按最近秩取得的百分位数，然后才在进程之间取中位数。不同进程的样本从不合并，百分位数从不取平均。",
			CPU:               "CPU 占用是同一时段内 CPU 时间与墙钟时间之比；100% 为一个逻辑处理器。",
			Efficiency:        "CPU 效率是每占满一个处理器所得的吞吐量，逐进程计算；其变化由两组的中位数得出。",
			RSS:               "峰值 RSS 是整个进程的最高水位，包含预热与预先分配的样本内存，不能分离出单个请求或单个协程的开销。",
			RSSOfRun:          "峰值 RSS 是程序从启动到结束的最高水位。",
			RunTime:           "运行时间从程序启动到结束，除非其输出另有说明；一次运行为一次操作。",
			Rounding:          "数字只在显示时舍入一次，半数远离零。变化保留未舍入值的符号，因此 −0.00% 与 +0.00% 并不相同。",
			Intervals:         "吞吐量是测量操作数除以测量区间；区间从第一次提交到最后一次交付。",
			ImportedIntervals: "吞吐量以文件所述为准；文件未述时，为操作次数除以其用时。",
		},
		Notes: Notes{
			ShortIntervals: func(count, total string) string {
				return fmt.Sprintf("%s 个测量区间中有 %s 个短于一秒，单次干扰在其中影响更大。", total, count)
			},
			FewTailSamples: func(metric, tail, processes string) string {
				if tail == "0" {
					return fmt.Sprintf("%s说明不了多少：有的进程样本太少，没有一个超过该值（样本少的进程：%s）。", metric, processes)
				}
				return fmt.Sprintf("%s依据的样本很少：超过该值的最少只有 %s 个（涉及进程：%s）。", metric, tail, processes)
			},
			OrderBalance: func(aFirst, pairs string) string {
				return fmt.Sprintf("%s 对中有 %s 对先运行 A。", pairs, aFirst)
			},
			Drift: func(metric, tau, p, n string) string {
				return fmt.Sprintf("%s与执行次序的关系：Kendall tau %s，p %s，n %s。", metric, tau, p, n)
			},
			LevelChange: func(processes string) string { return "进程之内水平发生变化：" + processes + "。" },
			LittlesLaw: func(found, expected string) string {
				return fmt.Sprintf("吞吐量乘以响应时间得到在途请求 %s 个，计划为 %s 个。", found, expected)
			},
			MissedTicks: func(count, processes string) string {
				return fmt.Sprintf("错过 %s 个节拍（涉及进程：%s）。", count, processes)
			},
			Disturbed: func(what, processes string) string {
				return fmt.Sprintf("受到干扰（%s）：%s。", what, processes)
			},
			DisturbedMany: func(what, processes, all, cells, allCells string) string {
				return fmt.Sprintf("受到干扰（%s）：%s 个进程中的 %s 个，涉及 %s 个单元中的 %s 个。", what, all, processes, allCells, cells)
			},
			FewerCores: func(needed, there string) string {
				return fmt.Sprintf("负载有 %s 个忙线程，主机只有 %s 个逻辑处理器。", needed, there)
			},
			Imported:        func(format string) string { return fmt.Sprintf("由 %s 导入，并非在此运行。", format) },
			LockIncomplete:  func(gaps string) string { return "哈希锁不完整：" + gaps + "。" },
			FailedProcesses: func(count string) string { return "失败且不计入任何中位数的进程：" + count + "。" },
			StatedLatency: func(processes string) string {
				return "百分位数以来源所述为准，并非由样本计算（涉及进程：" + processes + "）。"
			},
			SamePosition: func(metric, pct string) string {
				return fmt.Sprintf("%s随对内顺序而变：后运行的进程为 %s。", metric, pct)
			},
			PositionOfFloor: func(metric, pct string) string {
				return fmt.Sprintf("相同的两组中，%s随对内顺序而变：后运行的进程为 %s。", metric, pct)
			},
			NotPaired: func(reason string) string {
				if reason == "separate_collections" {
					reason = "两组来自各自的采集，主机的漂移可能只影响其中一组"
				}
				return "进程未能成对：" + reason + "。"
			},
			NotComparable: func(what string) string { return "现状下不可比较：" + what + "。" },
			Unpinned: func(processes string) string {
				return "由调度器安排，未固定处理器（涉及进程：" + processes + "）。唤醒另一处理器的开销可能超过一个请求。"
			},
			CollectorPolling: "所有者线程连续轮询，使处理器保持唤醒；其速率不能说明它优于会休眠的客户端。",
			Unknown:          func(code, values string) string { return code + "：" + values },
		},
		Scope: Scope{
			Time: "测量时段", Tool: "工具", Study: "研究", Plan: "计划（SHA-256）", Order: "顺序", Rounds: "轮数", Arms: "两组", Operation: "负载",
			Service: "服务", CPU: "CPU 涵盖", Latency: "响应时间涵盖", RSS: "峰值 RSS", ClientCPUs: "客户端所在处理器编号", ServerCPUs: "服务端所在处理器编号",
			Version: "版本", Runtime: "设置", Host: "主机", Constant: "常量", Seed: "种子",
			LimitChange:     "各表比较的是完成相同工作的两种方式，并不衡量任何一种方式、客户端库或服务端所能达到的最高速率。",
			LimitChangeAA:   "各表把一个程序与其自身比较：只说明本主机与本方法的可信程度，不说明任何一组的优劣。",
			LimitChangeRuns: "各表比较的是完成相同工作的两种方式，只涉及计划所列的输入；换用其他输入，结果可能不同。",
			LimitHost:       "对其他主机、所用网络之外的网络、集群、饱和状态与长时间运行，本报告不提供任何依据。",
			LimitSaturation: "闭环下的响应时间说明一个请求在前序请求占用资源时需要多久，不等于开放到达过程的响应时间。",
			LimitRSS:        "内存为整个进程的内存；两组共用一个程序时，也共有其固定部分。",
			LimitShort:      "区间较短，主机的一次干扰就可能改变一个进程的结果；范围显示了影响的幅度。",
			LimitImported:   "导入数字的可靠程度取决于其来源：进程如何运行、如何间隔、如何检查，此处不得而知。",
		},
		Page: Page{
			Filter: "筛选行", FilterHint: "多个词须全部匹配", Close: "关闭", Sort: "排序", Contents: "目录",
			SkipToContent: "跳到正文", DrillHint: "选择任一数字，即可查看其背后的进程。", NoMatch: "没有匹配的行。", VegaSpec: "Vega-Lite", ChartFile: "SVG",
			RowsShown: "{k} / {n} 行",
		},
		Terminal: Terminal{Overlap: "重叠", Difference: "差异", MoreFailures: "其余从略"},
		OpenLoop: OpenLoop{
			Metric: named(map[string]string{
				"latency_p50": "P50 服务时间", "latency_p90": "P90 服务时间", "latency_p99": "P99 服务时间",
				"latency_p999": "P99.9 服务时间", "latency_max": "最大服务时间",
			}),
			Method: "服务时间从请求开始到交付；响应时间从计划中请求应当开始的时刻算起：请求在开始之前的等待只计入后者。",
			Limit:  "响应时间取决于计划中的到达方式与速率；速率或到达方式不同，结果也不同。",
		},
		Number: func(n int) string {
			words := [...]string{"零", "一", "两", "三", "四", "五", "六", "七", "八", "九", "十", "十一", "十二"}
			if n >= 0 && n < len(words) {
				return words[n]
			}
			return " " + numfmt.Count(int64(n)) + " "
		},
		NumberRange: func(low, high string) string {
			return low + "至" + high
		},
		ChangeRange: func(low, high string) string { return low + "～" + high },
	}
}

// spaced sets a word of Latin script apart from the Chinese text around it.
func spaced(word string) string {
	left, right := "", ""
	if word != "" && word[0] < 0x80 {
		left = " "
	}
	if word != "" && word[len(word)-1] < 0x80 {
		right = " "
	}
	return left + word + right
}
