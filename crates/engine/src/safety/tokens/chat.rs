//! Token formats of chat, mail and voice services, and incoming webhooks. How to add a row: see `tokens`.
use super::{TokenFamily, token};

pub(super) const ROWS: &[TokenFamily] = &[
    token(
        "slack_token",
        "Slack tokens of every class",
        &[
            "xox(a|b|o|p|r|s)-{s10+}",
            "xoxe-{d1}-{s40+}",
            "xoxe.xox(b|p)-{d1}-{s40+}",
            "xoxc-{d9+}-{s20+}",
            "xoxd-{p40+}",
            "xapp-{d1}-{u5+}-{d5+}-{l5+}",
            "xwfp-{s40+}",
        ],
    ),
    token(
        "slack_webhook",
        "Slack incoming webhooks and workflow triggers",
        &[
            "hooks.slack.com/services/T{w6+}/B{w6+}/{w18+}",
            "hooks.slack.com/workflows/T{w6+}/A{w6+}/{d10+}/{w18+}",
            "hooks.slack.com/triggers/{w6+}/{d10+}/{h32}",
        ],
    ),
    token(
        "teams_webhook",
        "Microsoft Teams and Power Automate webhooks",
        &[
            "webhook.office.com/webhookb2/{s36}@{s36}/IncomingWebhook/{w20+}",
            "outlook.office.com/webhook/{uuid}@{uuid}/IncomingWebhook/{w20+}",
            "logic.azure.com:443/workflows/{h32}/{p1+}",
        ],
    ),
    token(
        "discord_webhook",
        "Discord webhooks",
        &["discord.com/api/webhooks/{d16-20}/{s40+}", "discordapp.com/api/webhooks/{d16-20}/{s40+}"],
    ),
    token(
        "discord_token",
        "Discord bot and user tokens",
        &[
            "MT{w21-26}.{s6}.{s27-40}",
            "Mj{w21-26}.{s6}.{s27-40}",
            "Mz{w21-26}.{s6}.{s27-40}",
            "ND{w21-26}.{s6}.{s27-40}",
            "NT{w21-26}.{s6}.{s27-40}",
            "Nj{w21-26}.{s6}.{s27-40}",
            "Nz{w21-26}.{s6}.{s27-40}",
            "OD{w21-26}.{s6}.{s27-40}",
            "OT{w21-26}.{s6}.{s27-40}",
            "mfa.{s80+}",
        ],
    )
    .random(),
    token("telegram_token", "Telegram bot tokens", &["{d8-10}:AA{s33}"]),
    token("google_chat_webhook", "Google Chat webhooks", &["chat.googleapis.com/v1/spaces/{s8+}/messages?key={s20+}"]),
    token(
        "zapier_webhook",
        "Automation webhooks that act for whoever calls them",
        &[
            "hooks.zapier.com/hooks/catch/{d4+}/{w5+}",
            "maker.ifttt.com/trigger/{s1+}/with/key/{s20+}",
            "hook.eu1.make.com/{l24+}",
            "hook.us1.make.com/{l24+}",
            "hook.eu2.make.com/{l24+}",
            "hooks.airtable.com/workflows/v1/genericWebhook/{w10+}/{w10+}/{w10+}",
            "open.feishu.cn/open-apis/bot/v2/hook/{uuid}",
            "open.larksuite.com/open-apis/bot/v2/hook/{uuid}",
            "qyapi.weixin.qq.com/cgi-bin/webhook/send?key={uuid}",
            "oapi.dingtalk.com/robot/send?access_token={h64}",
            "events.pagerduty.com/integration/{h32}/enqueue",
            "hc-ping.com/{uuid}",
            "webhook.site/{uuid}",
            "tines.com/webhook/{l32}/{l32}",
            "hooks.zapier.com/hooks/catch/{w12+}",
        ],
    ),
    token("twilio_key", "Twilio API keys", &["SK{x32}"]).exact(),
    token("sendgrid_key", "SendGrid keys", &["SG.{q16-24}.{q39-50}", "SG.{q64-70}"]),
    token("mailgun_key", "Mailgun keys", &["key-{h32}", "pubkey-{h32}", "key-{l32}"]).exact().random(),
    token("mailchimp_key", "Mailchimp keys", &["{h32}-us{d1-2}", "md-{s22}"]).random(),
    token("brevo_key", "Brevo (Sendinblue) keys", &["xkeysib-{h64}-{w16}", "xsmtpsib-{h64}-{w16}"]),
    token(
        "mail_service_key",
        "Resend, Postmark, Loops, MailerSend and Mailjet keys",
        &["re_{w8}_{w20+}", "mlsn.{w40+}", "re_{w30+}", "smtp_{w30+}", "SB-{w30+}"],
    )
    .random(),
    token(
        "messaging_key",
        "Voice and message services' keys",
        &["live_{w25}", "KEY{H32}_{w20+}", "KEY0{H31}_{w22}", "nexmo_{w30+}", "EAA{w100+}"],
    )
    .random()
    .exact(),
    token("facebook_app_token", "Meta app tokens", &["{d15-16}%7C{s27-40}"]).random(),
    token(
        "matrix_token",
        "Matrix access tokens",
        &["syt_{m6+}_{w20}_{w6}", "syr_{m6+}_{w20}_{w6}", "mat_{w30+}", "mct_{w30+}"],
    ),
    token("intercom_token", "Intercom, Front and Webex tokens", &["dG9rO{b50+}={p0-2}"]).random(),
    token("canadian_notify_key", "GC Notify and GOV.UK Notify keys", &["gcntfy-{s1+}-{uuid}-{uuid}"]),
    token("smooch_token", "Sunshine Conversations keys", &["act_{l24}"]).random(),
    token("zoom_token", "Zoom and other meeting secrets", &["zoom_{w40+}"]),
    token(
        "social_token",
        "Social networks' tokens",
        &[
            "EAACEdEose0cBA{w20+}",
            "AAAAAAAAAAAAAAAAAAAAA{w20+}%{w20+}",
            "IGQV{s60+}",
            "pina_{w40+}",
            "LI-{w40+}",
            "WPL_AP1.{p20+}",
        ],
    ),
];
