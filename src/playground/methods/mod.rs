//! The methods of the Bot API, one file for each group. Every one either changes the state and
//! answers, or refuses and changes nothing.

mod chats;
mod commands;
mod delete;
mod edit;
mod files;
mod hook;
mod rich;
mod send;
mod target;

use serde_json::Value;

use super::params::Params;
use super::refusal::Refusal;
use super::state::State;

pub(super) use hook::allow;
pub(super) use send::keep;

type Method = fn(&mut State, &Params) -> Result<Value, Refusal>;

/// Spelling, function, and whether Telegram's flood limits count the call.
const METHODS: [(&str, Method, bool); 30] = [
    ("getMe", chats::get_me, false),
    ("sendMessage", send::message, true),
    ("sendDocument", send::document, true),
    ("sendPhoto", send::photo, true),
    ("sendRichMessage", rich::send, true),
    ("sendChatAction", send::action, false),
    ("editMessageText", edit::text, true),
    ("editMessageCaption", edit::caption, true),
    ("editMessageReplyMarkup", edit::markup, true),
    ("deleteMessage", delete::one, false),
    ("deleteMessages", delete::many, false),
    ("answerCallbackQuery", chats::answer, false),
    ("setMessageReaction", chats::react, false),
    ("pinChatMessage", chats::pin, false),
    ("unpinChatMessage", chats::unpin, false),
    ("getChat", chats::get, false),
    ("getChatMember", chats::member, false),
    ("getChatAdministrators", chats::administrators, false),
    ("getChatMemberCount", chats::count, false),
    ("leaveChat", chats::leave, false),
    ("setMyCommands", commands::set, false),
    ("getMyCommands", commands::get, false),
    ("deleteMyCommands", commands::delete, false),
    ("getFile", files::get, false),
    ("setWebhook", hook::set, false),
    ("deleteWebhook", hook::delete, false),
    ("getWebhookInfo", hook::info, false),
    ("createForumTopic", chats::create_topic, false),
    ("logOut", chats::truth, false),
    ("close", chats::truth, false),
];

/// The method of that name, in any case; getUpdates is not among them because it waits.
pub(super) fn find(name: &str) -> Option<(&'static str, Method, bool)> {
    METHODS
        .iter()
        .find(|(known, ..)| known.eq_ignore_ascii_case(name))
        .copied()
}

/// A copy of the menu that a person sees in a chat.
pub(super) fn menu(state: &State, chat: i64, user: i64, language: &str) -> Value {
    commands::menu(state, chat, user, language)
}
