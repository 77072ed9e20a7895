//! Words to fill in.

use super::Lang;

/// People, by language.
pub(crate) fn names(lang: Lang) -> &'static [&'static str] {
    lang.choose(
        &[
            "Alice Meyer",
            "Bogdan Ionescu",
            "Chloe Laurent",
            "Daniel Okafor",
            "Elif Kaya",
            "Fergus Reid",
            "Greta Holm",
            "Hiro Tanaka",
            "Ines Duarte",
            "Jonas Weber",
            "Katya Orlova",
            "Liam Byrne",
            "Mina Park",
            "Nadia Haddad",
            "Oscar Lind",
            "Priya Nair",
            "Quentin Roy",
            "Rosa Conti",
        ],
        &[
            "张伟", "李娜", "王芳", "刘洋", "陈静", "杨帆", "赵磊", "黄敏", "周涛", "吴霞", "徐强",
            "孙丽", "马超", "朱琳", "胡军", "郭燕", "林峰", "何雪",
        ],
    )
}

/// Towns, by language.
pub(crate) fn towns(lang: Lang) -> &'static [&'static str] {
    lang.choose(
        &[
            "Aarhus",
            "Bergen",
            "Cork",
            "Dresden",
            "Evora",
            "Florence",
            "Ghent",
            "Haarlem",
            "Inverness",
            "Jena",
            "Krakow",
            "Leeds",
            "Malmo",
            "Nantes",
            "Oulu",
            "Porto",
            "Riga",
            "Split",
            "Turin",
            "Uppsala",
        ],
        &[
            "北京", "上海", "广州", "深圳", "成都", "杭州", "武汉", "西安", "南京", "重庆", "天津",
            "苏州", "长沙", "青岛", "大连", "昆明", "厦门", "合肥",
        ],
    )
}

/// Things, by language.
pub(crate) fn things(lang: Lang) -> &'static [&'static str] {
    lang.choose(
        &[
            "lamp", "bridge", "ledger", "kettle", "garden", "engine", "window", "basket", "mirror",
            "anchor", "pencil", "violin", "blanket", "compass", "hammer", "orchard", "parcel",
            "quarry", "ribbon", "saddle", "teapot", "umbrella", "valley", "wagon", "barrel",
            "candle", "drawer", "easel",
        ],
        &[
            "台灯", "木桥", "账本", "水壶", "花园", "引擎", "窗户", "篮子", "镜子", "铁锚", "铅笔",
            "提琴", "毛毯", "罗盘", "锤子", "果园", "包裹", "石矿", "丝带", "马鞍", "茶壶", "雨伞",
            "山谷", "马车", "木桶", "蜡烛", "抽屉", "画架",
        ],
    )
}

/// What one may think of a thing, by language.
pub(crate) fn adjectives(lang: Lang) -> &'static [&'static str] {
    lang.choose(
        &[
            "reliable", "narrow", "quiet", "modern", "fragile", "cheap", "sturdy", "bright",
            "heavy", "simple", "curious", "rough", "elegant", "slow", "compact", "ordinary",
            "hollow", "patient", "sharp", "warm",
        ],
        &[
            "可靠", "狭窄", "安静", "现代", "易碎", "便宜", "结实", "明亮", "沉重", "简单", "奇特",
            "粗糙", "优雅", "缓慢", "小巧", "普通", "中空", "耐用", "锋利", "温暖",
        ],
    )
}

/// What one may do, by language.
pub(crate) fn verbs(lang: Lang) -> &'static [&'static str] {
    lang.choose(
        &[
            "measure", "repair", "compare", "deliver", "inspect", "record", "replace", "sketch",
            "weigh", "polish", "describe", "arrange", "borrow", "count", "label", "move", "open",
            "protect", "sort", "test",
        ],
        &[
            "测量", "修理", "比较", "递送", "检查", "记录", "更换", "描绘", "称量", "打磨", "描述",
            "布置", "借用", "清点", "标记", "移动", "打开", "保护", "整理", "测试",
        ],
    )
}
