"""Addresses of the pages."""

from django.urls import URLPattern, path

from server.pages.views import (
    challenge,
    compare,
    compare_entries,
    data,
    home,
    leaderboard,
    membership,
    report_files,
    submission,
    submissions,
    submit,
)

urlpatterns: list[URLPattern] = [
    path("", home.home, name="home"),
    path("challenges/<slug:slug>/", challenge.overview, name="challenge"),
    path("challenges/<slug:slug>/data", data.data, name="challenge_data"),
    path("challenges/<slug:slug>/data/sample", data.sample, name="challenge_sample"),
    path("challenges/<slug:slug>/data/candidates", data.candidates, name="challenge_candidates"),
    path("challenges/<slug:slug>/rules", membership.rules, name="challenge_rules"),
    path("challenges/<slug:slug>/join", membership.join, name="join"),
    path("challenges/<slug:slug>/team", membership.team, name="team"),
    path("challenges/<slug:slug>/submit", submit.submit, name="submit"),
    path("challenges/<slug:slug>/submissions", submissions.submissions, name="submissions"),
    path("challenges/<slug:slug>/compare", compare.compare, name="compare"),
    path("challenges/<slug:slug>/leaderboard", leaderboard.leaderboard, name="leaderboard"),
    path("challenges/<slug:slug>/leaderboard/compare", compare_entries.compare_entries, name="compare_entries"),
    path("challenges/<slug:slug>/leaderboard.csv", leaderboard.board_csv, name="leaderboard_csv"),
    path("submissions/<uuid:pk>/", submission.submission, name="submission"),
    path("submissions/<uuid:pk>/panel", submission.panel, name="submission_panel"),
    path("submissions/<uuid:pk>/report.json", report_files.report_json, name="report_json"),
    path("submissions/<uuid:pk>/classes.csv", report_files.classes_csv, name="classes_csv"),
    path("submissions/<uuid:pk>/curves.csv", report_files.curves_csv, name="curves_csv"),
    path("submissions/<uuid:pk>/cancel", submission.cancel, name="submission_cancel"),
    path("submissions/<uuid:pk>/edit", submissions.edit, name="submission_edit"),
]
