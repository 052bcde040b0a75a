"""How replies become classes and states, by protocol."""

from __future__ import annotations

import pytest

from snellen.errors import UserError
from snellen.models.chat.question import ChatQuestion, Questions, marks_of
from snellen.models.chat.reading import LONGEST, ChatReply, read_reply
from snellen.models.chat.vocabulary import vocabulary_of
from snellen.models.text_answers import STATES, with_states, without_states

CLASSES = ("traffic light", "dog, hound", "cat", "light", "glass")
VOCABULARY = vocabulary_of(CLASSES, {})
LETTERS = ChatQuestion("", ("A", "B", "C", "D"), (2, 1, 0, 5))  # cat, dog, traffic light, none of these
OPEN = ChatQuestion("")


def state(words: str, question: ChatQuestion = OPEN, **reply: bool) -> str:
    """The name of the class or state that a reply is read as."""
    return with_states(CLASSES)[read_reply(ChatReply(words, **reply), question, VOCABULARY).number]


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("cat", "cat"),
        ('"Cat."', "cat"),
        ("**Hounds**", "dog, hound"),
        ("A traffic-light", "traffic light"),
        ("traffic\n light", "traffic light"),
        ("glasses", "glass"),
        ("The answer is dog.", "dog, hound"),
        ("It may be a cat, but my answer is: a dog.", "dog, hound"),
        ("Not a dog; a cat.", "cat"),
        ("It isn't a dog but a cat", "cat"),
        ("<think>a cat? a light?</think>\n\ndog", "dog, hound"),
        ("<b>dog</b>", "dog, hound"),
        ('<a href="cat">dog</a>', "dog, hound"),
        ("\x1b[31mdog\x1b[0m", "dog, hound"),
        ("I can't be certain, but it is a dog.", "dog, hound"),
        ("cat and dog", "(none of these)"),
        ("a category of doggedness", "(none of these)"),
        ("perro", "(none of these)"),
        ("none of these", "(none of these)"),
        ("I'm sorry, but I can't help with that.", "(refused)"),
        ("I’m sorry, I cannot identify the dog in this image.", "(refused)"),
        ("I am unable to see images.", "(refused)"),
        ("As an AI language model, I cannot view a cat.", "(refused)"),
        ("Sorry.", "(refused)"),
        ("", "(no answer)"),
        (" \n", "(no answer)"),
        ("<think>is it a cat", "(no answer)"),
    ],
)
def test_a_reply_is_the_one_class_that_it_names_or_its_state(words: str, name: str) -> None:
    assert state(words) == name


@pytest.mark.parametrize(
    ("words", "name"),
    [
        ("B", "dog, hound"),
        (" b. ", "dog, hound"),
        ("(B)", "dog, hound"),
        ("b) dog", "dog, hound"),
        ("B: the cat", "dog, hound"),
        ("**B**", "dog, hound"),
        ("The answer is (C).", "traffic light"),
        ("I choose option b", "dog, hound"),
        ("It must be C, I think", "traffic light"),
        ("dog", "dog, hound"),
        ("A dog", "dog, hound"),
        ("A", "cat"),
        ("I think it is A.", "cat"),
        ("It is a thing that I like", "(none of these)"),
        ("D", "(none of these)"),
        ("E", "(none of these)"),
        ("B or C", "(none of these)"),
        ("Can't tell", "(none of these)"),
        ("I'm sorry, I can't assist with that", "(refused)"),
        ("", "(no answer)"),
    ],
)
def test_a_choice_is_read_by_its_letter_else_by_its_name(words: str, name: str) -> None:
    assert state(words, LETTERS) == name


def test_a_reply_that_was_cut_off_counts_as_cut_unless_it_names_one_class() -> None:
    assert state("This picture shows a", cut=True) == "(cut off)"
    assert state("", cut=True) == "(cut off)"
    assert state("Dog. The picture shows", cut=True) == "dog, hound"
    assert state("x " * LONGEST) == "(cut off)"
    assert state("a dog " + "x " * LONGEST) == "dog, hound"
    assert state("x " * LONGEST + "dog") == "(cut off)"


def test_a_refusal_of_the_service_is_one_whatever_it_says() -> None:
    assert state("dog", refusal=True) == "(refused)"


@pytest.mark.parametrize("piece", [" ", "<", "<think>", "a\n", "answer is ", "not a ", "sorry ", "(", "traffic "])
def test_a_reply_of_megabytes_is_read_all_the_same(piece: str) -> None:
    """A reading that goes back and forth over it would not end."""
    for question in (OPEN, LETTERS):
        assert state(piece * 1_000_000, question) in ("(cut off)", "light")


def test_the_words_that_name_a_class_are_where_the_reading_says() -> None:
    words = "<think>cat</think> The answer is traffic  light."
    reading = read_reply(ChatReply(words), OPEN, VOCABULARY)
    assert words[reading.start : reading.stop] == "traffic  light"
    reading = read_reply(ChatReply("The answer is (B)."), LETTERS, VOCABULARY)
    assert "The answer is (B)."[reading.start : reading.stop] == "B"


def test_names_are_those_of_the_class_or_of_the_synonyms() -> None:
    assert VOCABULARY.names[1] == ("dog", "hound")
    assert vocabulary_of(["06_instrument"], {"06_instrument": ("piano", "harp")}).spoken == ("piano",)
    assert vocabulary_of(["n02085620"], {}).spoken[0] == "Chihuahua"
    with pytest.raises(UserError, match="the classes 'crane' and 'Crane, lifting' are both called 'Crane'"):
        vocabulary_of(["crane", "Crane, lifting"], {})


def test_closed_lists_every_name_and_free_none() -> None:
    closed = Questions("closed", VOCABULARY, none=True).about("ab").words
    assert closed.endswith(
        "exactly one of these names and nothing else: traffic light, dog, cat, light, glass, none of these."
    )
    free = Questions("free", VOCABULARY).about("ab").words
    assert not VOCABULARY.mentions(free)


def test_options_are_in_an_order_of_the_seed_and_the_image() -> None:
    first, again = (Questions("choice", VOCABULARY, none=True).about("ab") for _ in range(2))
    assert first == again
    assert sorted(first.offered[:-1]) == [0, 1, 2, 3, 4]
    assert first.offered[-1] == 5
    assert first.marks == ("A", "B", "C", "D", "E", "F")
    lines = first.words.splitlines()
    assert lines[1] == f"A. {VOCABULARY.spoken[first.offered[0]]}"
    assert lines[6] == "F. none of these"
    orders = {Questions("choice", VOCABULARY, order=order).about("ab").offered for order in range(20)}
    images = {Questions("choice", VOCABULARY).about(str(image)).offered for image in range(20)}
    assert min(len(orders), len(images)) > 10


def test_every_class_stands_in_every_place_equally_often() -> None:
    questions = [Questions("choice", VOCABULARY).about(str(image)) for image in range(2000)]
    for number in range(5):
        places = [question.offered.index(number) for question in questions]
        assert all(abs(places.count(place) - 400) < 4 * 18 for place in range(5))  # 18: a binomial's deviation


def test_marks_are_letters_as_far_as_these_reach() -> None:
    assert marks_of(26) == (tuple("ABCDEFGHIJKLMNOPQRSTUVWXYZ"), "letter")
    marks, called = marks_of(27)
    assert (marks[0], marks[-1], called) == ("1", "27", "number")
    many = ChatQuestion("", marks, tuple(range(27)))
    vocabulary = vocabulary_of([f"thing{number}" for number in range(27)], {})
    assert [read_reply(ChatReply(words), many, vocabulary).number for words in ("12", "2.", "option 27", "(1) x")] == [
        *(11, 1, 26, 0)
    ]


def test_the_states_are_the_last_classes_and_no_class_may_be_called_so() -> None:
    assert with_states(["a"]) == ("a", *STATES)
    assert without_states(with_states(["a", "b"])) == ("a", "b")
    assert without_states(["a", "b"]) == ["a", "b"]
    with pytest.raises(UserError, match=r"'\(refused\)' stands for replies that name no class"):
        with_states(["a", "(refused)"])
